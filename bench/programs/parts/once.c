#include "rig.h"
/* Most of the time is in a block that runs once in every call. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  MULTIPLY(60);
  if (count > 0 && (codes[0] & 1)) MULTIPLY(20);
  if (count > 1 && (codes[1] & 1)) ADD(40);
  return x;
}
