#include "rig.h"
/* A loop that is left from the middle, and a tail for what it found. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  int i = 0;
  for (; i < count; i++) {
    MULTIPLY(10);
    if (codes[i] == 7) break;
    ADD(22);
  }
  if (i == count) { MULTIPLY(32); return x; }
  MULTIPLY(16);
  return x;
}
