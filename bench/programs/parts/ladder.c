#include "rig.h"
/* Twelve arms, each of which runs or not; no loop. */
#define ARM(bit, n) if (codes[bit] & 1) MULTIPLY(n)
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  (void)count;
  MULTIPLY(12);
  ARM(0, 4); ARM(1, 8); ARM(2, 12); ARM(3, 16); ARM(4, 20); ARM(5, 24);
  ARM(6, 6); ARM(7, 10); ARM(8, 14); ARM(9, 18); ARM(10, 22); ARM(11, 26);
  return x;
}
