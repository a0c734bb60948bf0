/* The clocks of armv7-A and aarch64 without a system, for hairspring_arm.h. */
#ifndef HAIRSPRING_ARM_METAL_H
#define HAIRSPRING_ARM_METAL_H

#include "choice.h"
#include "pmu.h"
#include "timer.h"

#ifdef HAIRSPRING_CYCLES_BY_64
#define HAIRSPRING_CYCLES_DIVIDED HAIRSPRING_PMCR_D
#define HAIRSPRING_CYCLES_IN_TICK 64u
#else
#define HAIRSPRING_CYCLES_DIVIDED 0ul
#define HAIRSPRING_CYCLES_IN_TICK 1u
#endif

static const char *hairspring_enable_cycles(void) {
  if (hairspring_pmu_version() == 0) return "the processor has no performance monitors";
  hairspring_pmu_start(HAIRSPRING_PMCR_P | HAIRSPRING_PMCR_C, HAIRSPRING_CYCLES_DIVIDED);
  return NULL;
}
static uint64_t hairspring_cycles_hz(void) {
  return hairspring_core_hz() / HAIRSPRING_CYCLES_IN_TICK;
}
static inline unsigned long hairspring_cycles_raw(void) { return hairspring_pmccntr(); }

#if defined(__aarch64__)

#ifdef HAIRSPRING_CYCLES_BY_64
#error "HAIRSPRING_CYCLES_BY_64 is for the 32 bits of armv7: on aarch64 the counter has 64"
#endif
#define HAIRSPRING_CYCLES_NAME "pmccntr"
#define HAIRSPRING_CYCLES_SPAN UINT64_MAX
static uint64_t hairspring_cycles_ticks(void) {
  HAIRSPRING_ISB();
  uint64_t cycles = hairspring_pmccntr();
  HAIRSPRING_ISB();
  return cycles;
}

#else

#ifdef HAIRSPRING_CYCLES_BY_64
#define HAIRSPRING_CYCLES_NAME "ccnt/64"
#else
#define HAIRSPRING_CYCLES_NAME "ccnt"
#endif
#define HAIRSPRING_CYCLES_SPAN UINT32_MAX
/* The barrier after the count also keeps the read of the flag behind it. */
static inline uint32_t hairspring_cycles_low(void) {
  HAIRSPRING_ISB();
  uint32_t cycles = (uint32_t)hairspring_pmccntr();
  HAIRSPRING_ISB();
  return cycles;
}
static inline int hairspring_cycles_overflowed(void) {
  return (hairspring_pmovsr() & HAIRSPRING_PMU_CYCLES) != 0;
}
static inline void hairspring_cycles_clear(void) { hairspring_set_pmovsr(HAIRSPRING_PMU_CYCLES); }

/* Interrupts are off, because their handlers may read the clock too. */
static uint64_t hairspring_cycles_ticks(void) {
  unsigned long status;
  __asm__ volatile("mrs %0, cpsr\n\tcpsid i" : "=r"(status) : : "memory");
  uint64_t ticks = hairspring_extend_by_flag(&hairspring_arm.wraps, 32, hairspring_cycles_low,
      hairspring_cycles_overflowed, hairspring_cycles_clear);
  __asm__ volatile("msr cpsr_c, %0" : : "r"(status) : "memory", "cc");
  return ticks;
}

#endif

static const char *hairspring_enable_timer(void) {
  return hairspring_has_timer() ? NULL : "the processor has no generic timer";
}
static uint64_t hairspring_timer_ticks(void) { return hairspring_cntvct(); }
static uint64_t hairspring_timer_hz(void) { return hairspring_cntfrq(); }

static const struct hairspring_arm_clock hairspring_arm_clocks[] = {
    {HAIRSPRING_CYCLES_NAME, hairspring_enable_cycles, hairspring_cycles_ticks,
        hairspring_cycles_hz, HAIRSPRING_CYCLES_SPAN, NULL},
    {"cntvct", hairspring_enable_timer, hairspring_timer_ticks, hairspring_timer_hz, UINT64_MAX,
        NULL},
};

/* The interrupt's handler calls hairspring_clock_keep(), which clears the flag. Then there is no
 * bound for two reads, as long as interrupts are not off for a span. */
static inline int hairspring_clock_overflow_interrupt(int on) {
  if (hairspring_arm.ticks != hairspring_cycles_ticks) return 0;
  if (on) hairspring_set_pmintenset(HAIRSPRING_PMU_CYCLES);
  else hairspring_set_pmintenclr(HAIRSPRING_PMU_CYCLES);
  return 1;
}

static inline void hairspring_look_for_doubts(void) {
  if (hairspring_arm.ticks == hairspring_cycles_ticks &&
      !hairspring_pmu_is_ours(HAIRSPRING_CYCLES_DIVIDED))
    hairspring_arm.doubts |= HAIRSPRING_DOUBT_STOPPED;
}

#endif
