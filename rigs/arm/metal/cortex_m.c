/* A Cortex-M: the DWT where it counts (-DEXPECT_DWT), else SysTick. */
#include "hairspring_arm.h"
#include "rig.h"
#include "slope.h"

#define READ(into) "ldr " into ", [%3]"

#ifdef EXPECT_DWT

#define WRAP ((uint64_t)1 << 32)
#define DWT_SLOPE(name, k)                                      \
  static unsigned long name##_##k(void) {                       \
    unsigned long before, after, work = 3;                      \
    __asm__ volatile("isb\n\t" READ("%0") "\n\t.rept " #k       \
        "\n\tadd %2, %2, %2\n\t.endr\n\t" READ("%1")            \
                     : "=&r"(before), "=&r"(after), "+&r"(work) \
                     : "r"(&HAIRSPRING_M_DWT_CYCCNT)            \
                     : "memory");                               \
    return after - before;                                      \
  }
FOR_SLOPES(DWT_SLOPE, of_add)
static unsigned long (*const of_add[])(void) = {FOR_SLOPES(SLOPE_ENTRY, of_add)};

static unsigned sweep(void) {
  unsigned wrong = 0;
  for (uint32_t j = 1; j <= 64; j += 1) {
    uint64_t start = WRAP - j;
    hairspring_arm.wraps.high = 0;
    hairspring_arm.wraps.last = start;
    HAIRSPRING_M_DWT_CYCCNT = (uint32_t)start;
    uint64_t first = hairspring_now(), second = hairspring_now();
    wrong += first < start || first > start + 200 || second <= first || second > first + 200;
  }
  return wrong;
}

int main(void) {
  HAIRSPRING_M_DWT_CTRL |= HAIRSPRING_M_CYCCNTENA;
  check((HAIRSPRING_M_DWT_CTRL & HAIRSPRING_M_CYCCNTENA) == 0,
      "without the trace unit the DWT does not answer");
  check(hairspring_clock_start() == 1, "the clock starts");
  check_text("the clock", hairspring_clock_name(), "dwt cyccnt");
  check_text("the reason", hairspring_clock_why(), "");
  check_range("wrong slopes of add, k = 0 to 20", slopes_wrong(of_add), 0, 0);
  check_range("wrong of 64 phases of the wrap", sweep(), 0, 0);
  check(!hairspring_clock_overflow_interrupt(1), "the DWT has no overflow interrupt");
  check_range("span", hairspring_clock_span(), WRAP - 1, WRAP - 1);
  HAIRSPRING_M_DWT_CTRL = 0;
  check(hairspring_clock_doubts() == HAIRSPRING_DOUBT_STOPPED,
      "a counter that somebody stopped is doubtful");
  return failures;
}

#else

/* The clock makes a tick in 40 instructions. Each turn is 41 instructions, so 40 turns begin at all
 * 40 phases of a tick, and the sum of their ticks is exactly the number of instructions between the
 * two reads. */
#define SYSTICK_SLOPE(name, k)                                                                    \
  static unsigned long name##_##k(void) {                                                         \
    unsigned long before, after, work = 3, sum = 0, turns = 40;                                   \
    __asm__ volatile("1:\tldr %0, [%5]\n\t.rept " #k                                              \
        "\n\tadd %2, %2, %2\n\t.endr\n\tldr %1, [%5]\n\t"                                         \
                     "sub %0, %0, %1\n\tubfx %0, %0, #0, #24\n\tadd %3, %3, %0\n\t.rept 34 - " #k \
                         "\n\tnop\n\t.endr\n\t"                                                   \
                     "subs %4, %4, #1\n\tbne 1b"                                                  \
                     : "=&r"(before), "=&r"(after), "+&r"(work), "+&r"(sum), "+&r"(turns)         \
                     : "r"(&HAIRSPRING_M_SYST_CVR)                                                \
                     : "memory", "cc");                                                           \
    return sum;                                                                                   \
  }
FOR_SLOPES(SYSTICK_SLOPE, of_add)
static unsigned long (*const of_add[])(void) = {FOR_SLOPES(SLOPE_ENTRY, of_add)};

static volatile unsigned interrupts;
void on_interrupt(void) {
  interrupts += 1;
  hairspring_clock_keep();
}

int main(void) {
  check(hairspring_clock_start() == 1, "the clock starts");
  check_text("the clock", hairspring_clock_name(), "systick");
  check_text("the reason", hairspring_clock_why(),
      "dwt cyccnt: the DWT does not answer: there is none, or it is locked");
  check_range("wrong slopes of add, k = 0 to 20", slopes_wrong(of_add), 0, 0);
  check_range("span", hairspring_clock_span(), 0xffffff, 0xffffff);
  check(hairspring_clock_overflow_interrupt(1), "the interrupt is on");
  uint64_t before = hairspring_now();
  while (interrupts < 3) __asm__ volatile("wfi" : : : "memory");
  check_range("ticks over three wraps", hairspring_now() - before, 3 * 0x1000000 - 2000,
      3 * 0x1000000);
  check(hairspring_clock_overflow_interrupt(0), "the interrupt is off");
  HAIRSPRING_M_SYST_CSR = 0;
  check(hairspring_clock_doubts() == HAIRSPRING_DOUBT_STOPPED,
      "a counter that somebody stopped is doubtful");
  HAIRSPRING_M_SYST_CSR = HAIRSPRING_M_SYST_CORE_CLOCK | HAIRSPRING_M_SYST_ENABLE;
  hairspring_arm.disable = NULL; /* as in a program that had it running before the start */
  check(hairspring_clock_start() == 0, "a SysTick that the program uses is not taken");
  check_text("the clock", hairspring_clock_name(), "none");
  return failures;
}

#endif
