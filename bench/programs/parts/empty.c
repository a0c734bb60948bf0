#include "rig.h"
/* A call without codes returns at once; parts that run once in every other call take nothing. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  if (count == 0) return x;
  for (int i = 0; i < count; i++) {
    MULTIPLY(9);
    if (codes[i] & 1) ADD(17);
  }
  return x;
}
