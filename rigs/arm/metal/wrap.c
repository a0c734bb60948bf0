/* The overflow of the 32 bits of CCNT, at every instruction of a read, and over gaps that are
 * longer than a wrap. */
#include "gic.h"
#include "hairspring_arm.h"
#include "rig.h"

#define WRAP ((uint64_t)1 << 32)
#define SECOND 1000000000ull

static void set_counter(uint32_t count) {
  hairspring_arm.wraps.high = 0;
  hairspring_set_pmccntr(count);
  hairspring_set_pmovsr(HAIRSPRING_PMU_CYCLES);
  HAIRSPRING_ISB();
}

#ifndef HAIRSPRING_CYCLES_BY_64
/* Readers that are wrong on purpose. The sweep below must find them. */
static uint64_t flag_after_count(void) {
  uint32_t low = hairspring_cycles_low();
  __asm__ volatile("nop\n\tnop\n\tnop\n\tnop");
  if (hairspring_cycles_overflowed()) {
    hairspring_cycles_clear();
    hairspring_arm.wraps.high += WRAP; /* but the count may be of before the overflow */
  }
  return hairspring_arm.wraps.high | low;
}
static uint64_t flag_before_count(void) {
  if (hairspring_cycles_overflowed()) {
    hairspring_cycles_clear();
    hairspring_arm.wraps.high += WRAP;
  }
  __asm__ volatile("nop\n\tnop\n\tnop\n\tnop");
  /* but the overflow may be after the flag */
  return hairspring_arm.wraps.high | hairspring_cycles_low();
}
static uint64_t without_flag(void) { return hairspring_cycles_low(); }

/* Two reads soon after the counter was set to 2^32 - j, for j = 1 to 64: how many of these pairs
 * are wrong. */
static unsigned sweep(uint64_t (*read)(void)) {
  unsigned wrong = 0;
  for (uint32_t j = 1; j <= 64; j += 1) {
    uint64_t start = WRAP - j;
    set_counter((uint32_t)start);
    uint64_t first = read(), second = read();
    wrong += first < start || first > start + 100 || second <= first || second > first + 100;
  }
  return wrong;
}

static void sweeps(void) {
  check_range("wrong of 64 phases of the wrap", sweep(hairspring_now), 0, 0);
  check_range("wrong with the flag after the count", sweep(flag_after_count), 1, 64);
  check_range("wrong with the flag before the count", sweep(flag_before_count), 1, 64);
  check_range("wrong without the flag", sweep(without_flag), 1, 64);
}
#endif

void on_interrupt(void) {
  uint32_t number = gic_acknowledge();
  if (number == GIC_PMU) hairspring_clock_keep();
  if (number == GIC_TIMER) timer_stop();
  gic_end(number);
}

/* The ticks of some seconds of sleep, with a call of keep after each second or without. The first
 * wrap is 0.1 s after the start, so that 5 s have two. The core wakes every second in any case:
 * QEMU sets the overflow flag only if something reads the registers of the performance monitors, or
 * an interrupt comes, in the second half of each wrap. */
static uint64_t sleep_ticks(unsigned seconds, int kept) {
  set_counter((uint32_t)(WRAP - SECOND / 10));
  uint64_t before = hairspring_now();
  for (unsigned slept = 0; slept < seconds; slept += 1) {
    timer_sleep(1);
    if (kept) hairspring_clock_keep();
  }
  return hairspring_now() - before;
}

#ifdef HAIRSPRING_CYCLES_BY_64
static void gaps(void) {
  check_text("the clock", hairspring_clock_name(), "ccnt/64");
  check_range("5 s, one tick in 64 cycles", sleep_ticks(5, 0), 78125000, 78125010);
  check_range("100 s, one tick in 64 cycles", sleep_ticks(100, 0), 1562500000, 1562500200);
}
#else
static void gaps(void) {
  sweeps();
  check_range("span", hairspring_clock_span(), WRAP - 1, WRAP - 1);
  check_range("4 s", sleep_ticks(4, 0), 4 * SECOND, 4 * SECOND + 1000);
  check_range("5 s by the flag alone, which loses a wrap", sleep_ticks(5, 0), 5 * SECOND - WRAP,
      5 * SECOND - WRAP + 1000);
  check_range("5 s, kept every second", sleep_ticks(5, 1), 5 * SECOND, 5 * SECOND + 1000);
  check(hairspring_clock_overflow_interrupt(1), "the overflow interrupt is on");
  check_range("5 s with the overflow interrupt", sleep_ticks(5, 0), 5 * SECOND, 5 * SECOND + 1000);
  check_range("100 s with the overflow interrupt", sleep_ticks(100, 0), 100 * SECOND,
      100 * SECOND + 10000);
  check_range("wrong of 64 phases of the wrap, with the interrupt", sweep(hairspring_now), 0, 0);
  check(hairspring_clock_overflow_interrupt(0), "the overflow interrupt is off");
}
#endif

int main(void) {
  gic_start();
  check(hairspring_clock_start() == 1, "the clock starts");
  gaps();
  return failures;
}
