/* The generic timer of armv7-A (Cortex-A7, A15 and later; the A8 and A9 have none) and aarch64: its
 * virtual count, in 64 bits, at a rate of some 10 MHz that does not change with the core's. */
#ifndef HAIRSPRING_ARM_TIMER_H
#define HAIRSPRING_ARM_TIMER_H

#include <stdint.h>

#include "pmu.h"

#if defined(__aarch64__)

static inline uint64_t hairspring_cntvct(void) {
  uint64_t ticks;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
}
static inline int hairspring_has_timer(void) { return 1; }

#else

static inline uint64_t hairspring_cntvct(void) {
  uint64_t ticks;
  __asm__ volatile("isb\n\tmrrc p15, 1, %Q0, %R0, c14\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
}
HAIRSPRING_REGISTER_READ(processor_features, "", "c0, c1, 1")
/* Privileged code only. */
static inline int hairspring_has_timer(void) {
  return (hairspring_processor_features() >> 16 & 15u) != 0;
}

#endif

/* Ticks per second; 0 where the firmware did not set it. */
HAIRSPRING_REGISTER_READ(cntfrq, "cntfrq_el0", "c14, c0, 0")

#endif
