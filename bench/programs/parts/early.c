#include "rig.h"
/* Returns as soon as a code is odd, from one of six places. */
#define STEP(at, n) MULTIPLY(n); if (codes[at] & 1) return x
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  if (count == 0) return x;
  for (int i = codes[6] & 7; i > 0; i--) MULTIPLY(11);
  STEP(0, 10); STEP(1, 20); STEP(2, 15); STEP(3, 30); STEP(4, 12); STEP(5, 18);
  return x;
}
