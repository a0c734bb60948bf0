#include "rig.h"
/* A function that calls itself, once for each code. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  if (count == 0) return x;
  if (codes[0] & 1) MULTIPLY(30); else ADD(50);
  x = work(codes + 1, count - 1, x, c);
  MULTIPLY(21);
  return x;
}
