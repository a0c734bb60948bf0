#include "rig.h"
/* A loop over a switch, with code before and behind it that runs once in a call. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  MULTIPLY(20);
  for (int i = 0; i < count; i++) {
    switch (codes[i] & 7) {
    case 0: MULTIPLY(20); break;
    case 1: MULTIPLY(24); break;
    case 2: ADD(28); break;
    case 3: MULTIPLY(8); break;
    case 4: ADD(90); break;
    case 5: MULTIPLY(40); break;
    case 6: ADD(12); break;
    default: MULTIPLY(5); break;
    }
  }
  MULTIPLY(15);
  return x;
}
