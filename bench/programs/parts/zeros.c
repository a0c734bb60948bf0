#include "rig.h"
/* Twelve arms that take nothing beside the chain: they only count. */
#define NONE(bit) if (codes[i] & (1 << bit)) __asm__ volatile("nop")
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  for (int i = 0; i + 1 < count; i += 2) {
    MULTIPLY(40);
    NONE(0); NONE(1); NONE(2); NONE(3); NONE(4); NONE(5);
    MULTIPLY(40);
    if (codes[i + 1] & 1) __asm__ volatile("nop");
    if (codes[i + 1] & 2) __asm__ volatile("nop");
    if (codes[i + 1] & 4) __asm__ volatile("nop");
    if (codes[i + 1] & 8) __asm__ volatile("nop");
    if (codes[i + 1] & 16) __asm__ volatile("nop");
    if (codes[i + 1] & 32) __asm__ volatile("nop");
    MULTIPLY(10);
  }
  return x;
}
