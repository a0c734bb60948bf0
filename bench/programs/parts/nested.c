#include "rig.h"
/* A loop in a loop. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  for (int i = 0; i < count; i++) {
    MULTIPLY(25);
    for (int j = codes[i] & 15; j > 0; j--) MULTIPLY(7);
    ADD(30);
  }
  return x;
}
