/* Hairspring on ARM with the cycle counter of the core. Include it instead of hairspring.h; -Iprobe
 * -Iprobe/arm.
 *
 *   armv7-A, bare metal      CCNT (overflow flag, interrupt), else the generic timer
 *   aarch64, bare metal      PMCCNTR_EL0, else the generic timer
 *   Cortex-M                 DWT_CYCCNT, else SysTick
 *   Linux, armv7             CCNT through the module of probe/linux/, else perf, the generic timer,
 *                            clock_gettime
 *   Linux, aarch64           PMCCNTR_EL0 through perf's page or the module, else the generic timer,
 *                            perf, clock_gettime
 *   other processors         as with hairspring.h
 *
 *   hairspring_clock_start()        takes the first of these that counts, for the calling thread; 0
 *                                   if none does
 *   hairspring_clock_start_only(n)  takes the one with this name or none
 *   hairspring_clock_stop()         gives it back
 *   hairspring_now()                its ticks in 64 bits, ordered
 *   hairspring_cycles_raw()         the cycle counter in one instruction, unordered, 32 bits on
 *                                   armv7
 *   hairspring_clock_name()         which one was taken
 *   hairspring_clock_why()          why the ones before it were not: a text, empty if the first was
 *                                   taken
 *   hairspring_clock_hz()           its ticks per second, 0 if nothing states them
 *   hairspring_clock_span()         two reads must be less than this many ticks apart; UINT64_MAX
 *                                   if there is no bound
 *   hairspring_clock_doubts()       what happened since the last call that makes ticks doubtful:
 *                                   HAIRSPRING_DOUBT_ bits
 *   hairspring_clock_keep()         keeps the count over a span: call it from a timer, or from the
 *                                   overflow's interrupt
 *   hairspring_clock_overflow_interrupt(on)   bare metal: 1 if the counter now interrupts at its
 *                                             overflow (on virt PPI 23)
 *
 * The cycle counter counts while the core runs: it stops in most idle states, follows frequency
 * changes, and every core has its own. You may define before the #include: HAIRSPRING_CLOCK_HZ, the
 * rate of the core; HAIRSPRING_CYCLES_BY_64, to count one tick in 64 cycles on armv7, for a span of
 * 274 s instead of 4.29 s at 1 GHz. Bare metal: privileged code only. */
#ifndef HAIRSPRING_ARM_H
#define HAIRSPRING_ARM_H

#if defined(__linux__) && __STDC_HOSTED__ && !defined(HAIRSPRING_FREESTANDING)
#define HAIRSPRING_ARM_LINUX
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#elif !defined(HAIRSPRING_FREESTANDING) && (defined(__arm__) || defined(__aarch64__))
#define HAIRSPRING_FREESTANDING
#endif

#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__) || (defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7) || \
    (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M')

#ifdef HAIRSPRING_CLOCK_HZ
static inline uint64_t hairspring_core_hz(void) { return (uint64_t)(HAIRSPRING_CLOCK_HZ); }
#undef HAIRSPRING_CLOCK_HZ
#else
static inline uint64_t hairspring_core_hz(void) { return 0; }
#endif

/* The thread ran on another core than at the read before: their counters have nothing to do with
 * each other. */
#define HAIRSPRING_DOUBT_MIGRATED 1u
/* The counter could not be read any more: access to it was withdrawn. */
#define HAIRSPRING_DOUBT_LOST 2u
/* The counter was stopped or changed: by perf, in an idle state, or because its core was switched
 * off. */
#define HAIRSPRING_DOUBT_STOPPED 4u

#include "choice.h"

#if defined(HAIRSPRING_ARM_LINUX)
#include "linux.h"
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#include "cortex_m.h"
#else
#include "metal.h"
#endif

/* ---- the calls ------------------------------------------------------------------------------- */

static inline int hairspring_clock_start_only(const char *name) {
  return hairspring_choose_clock(hairspring_arm_clocks,
      sizeof hairspring_arm_clocks / sizeof hairspring_arm_clocks[0], name);
}
static inline int hairspring_clock_start(void) { return hairspring_clock_start_only(NULL); }
/* Closes what the start opened. */
static inline void hairspring_clock_stop(void) { hairspring_release_clock(); }
static inline const char *hairspring_clock_name(void) { return hairspring_arm.name; }
static inline const char *hairspring_clock_why(void) { return hairspring_arm.why; }
static inline uint64_t hairspring_clock_span(void) { return hairspring_arm.span; }
static inline void hairspring_clock_keep(void) { (void)hairspring_arm.ticks(); }
static inline unsigned hairspring_clock_doubts(void) {
  hairspring_look_for_doubts();
  unsigned doubts = hairspring_arm.doubts;
  hairspring_arm.doubts = 0;
  return doubts;
}

/* A read before the start starts the clock. Without any clock it returns 0, and
 * hairspring_clock_name() is "none". */
static uint64_t hairspring_start_and_read(void) {
  (void)hairspring_clock_start();
  return hairspring_arm.ticks();
}

#define HAIRSPRING_CLOCK_CALLS
#define HAIRSPRING_CLOCK hairspring_clock_name()
#define HAIRSPRING_CLOCK_HZ hairspring_arm.hz
#define HAIRSPRING_READ_CLOCK() hairspring_arm.ticks()

#endif

#include "../hairspring.h"

#endif
