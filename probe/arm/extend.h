/* 64 bits from a counter of fewer bits. The counter and its flag are read by functions, which are
 * inlined, so that tests can take others. */
#ifndef HAIRSPRING_ARM_EXTEND_H
#define HAIRSPRING_ARM_EXTEND_H

#include <stdint.h>

struct hairspring_wraps {
  uint64_t high; /* wraps so far, shifted by the counter's bits */
  uint64_t last; /* the count at the last read, for counters without a flag */
};

/* A counter with an overflow flag. The flag is read after the count: an overflow between the two
 * sets the flag of an old count, so the count is read again whenever the flag was set. An overflow
 * after the flag was read belongs to the next call. At most one overflow may be between two calls:
 * the flag of two is the flag of one. Nothing may interrupt this function and call it. */
__attribute__((always_inline)) static inline uint64_t hairspring_extend_by_flag(
    struct hairspring_wraps *wraps, unsigned bits, uint32_t (*count)(void), int (*overflowed)(void),
    void (*clear)(void)) {
  uint32_t low = count();
  if (overflowed()) {
    clear();
    wraps->high += (uint64_t)1 << bits;
    low = count();
  }
  return wraps->high | low;
}

/* A counter without a flag, by comparison with the call before. Two calls must be less than 2^bits
 * ticks apart. */
__attribute__((always_inline)) static inline uint64_t hairspring_extend_by_comparison(
    struct hairspring_wraps *wraps, uint64_t low, unsigned bits) {
  if (low < wraps->last) wraps->high += (uint64_t)1 << bits;
  wraps->last = low;
  return wraps->high | low;
}

#endif
