/* The cycle counter of an A-profile core counts each instruction once: k instructions between two
 * reads give k + 1. */
#include "hairspring_arm.h"
#include "rig.h"
#include "slope.h"

#if defined(__aarch64__)
#define READ(into) "mrs " into ", pmccntr_el0"
#else
#define READ(into) "mrc p15, 0, " into ", c9, c13, 0"
#endif

SLOPES(of_nop, READ, "nop")
SLOPES(of_add, READ, "add %2, %2, %2")
SLOPES(of_load, READ, "ldr %2, [%3]")
SLOPES(of_multiply, READ, "mul %2, %2, %2")

#define ORDERED(name, k)                                  \
  __attribute__((noinline)) static uint64_t name##_##k(void) { \
    uint64_t before = hairspring_now();                   \
    __asm__ volatile(".rept " #k "\n\tnop\n\t.endr");     \
    return hairspring_now() - before;                     \
  }
FOR_SLOPES(ORDERED, ordered)
static uint64_t (*const ordered[])(void) = {FOR_SLOPES(SLOPE_ENTRY, ordered)};

/* The ordered read has the same overhead for every k. */
static unsigned ordered_wrong(void) {
  unsigned wrong = 0;
  for (unsigned k = 0; k <= 20; k += 1) wrong += ordered[k]() != ordered[0]() + k;
  return wrong;
}

int main(void) {
  unsigned long before = hairspring_cycles_raw();
  check(hairspring_cycles_raw() == before, "the counter is off before the start");
  check(hairspring_clock_start() == 1, "the clock starts");
  check_text("the clock", hairspring_clock_name(), HAIRSPRING_CYCLES_NAME);
  check_text("the reason", hairspring_clock_why(), "");
  check_range("wrong slopes of nop, k = 0 to 20", slopes_wrong(of_nop), 0, 0);
  check_range("wrong slopes of add", slopes_wrong(of_add), 0, 0);
  check_range("wrong slopes of ldr", slopes_wrong(of_load), 0, 0);
  check_range("wrong slopes of mul", slopes_wrong(of_multiply), 0, 0);
  check_range("wrong slopes of the ordered read", ordered_wrong(), 0, 0);
  check_range("overhead of the ordered read", ordered[0](), 3, 60);
  check(hairspring_clock_doubts() == 0, "no doubts");
  hairspring_set_pmcntenclr(HAIRSPRING_PMU_CYCLES);
  check(hairspring_clock_doubts() == HAIRSPRING_DOUBT_STOPPED,
      "a counter that somebody stopped is doubtful");
  check(hairspring_clock_start() == 1 && hairspring_clock_doubts() == 0,
      "a new start counts again");
  check(hairspring_clock_start_only("sundial") == 0, "an unknown clock does not start");
  check_text("the reason", hairspring_clock_why(), "sundial: there is no clock of this name here");
  check(hairspring_now() == 0 && hairspring_clock_span() == 0, "and reads 0 with a span of 0");
  return failures;
}
