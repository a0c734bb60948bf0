#include "rig.h"
/* Short blocks: one to twelve cycles in each arm. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  for (int i = 0; i < count; i++) {
    ADD(6);
    if (codes[i] & 1) ADD(1);
    if (codes[i] & 2) ADD(3);
    if (codes[i] & 4) ADD(6);
    if (codes[i] & 8) MULTIPLY(3);
    if (codes[i] & 16) MULTIPLY(4);
    ADD(10);
  }
  return x;
}
