/* Pieces of code between labels, each run RUNS times: prints how many instructions the cycle
 * counter found in them, for comparison with the plugin's count. */
#include "hairspring_arm.h"
#include "rig.h"

#define RUNS 50

#if defined(__aarch64__)
#define READ(into) "mrs " into ", pmccntr_el0"
#else
#define READ(into) "mrc p15, 0, " into ", c9, c13, 0"
#endif

#define SEGMENT(k)                                                                            \
  __attribute__((noinline, noclone)) static unsigned long segment_##k(void) {                 \
    unsigned long before, after;                                                              \
    __asm__ volatile("isb\n\t" READ("%0") "\nsegment_" #k "_begin:\n\t.rept " #k \
        "\n\tnop\n\t.endr\nsegment_" #k "_end:\n\t" READ("%1") \
                     : "=&r"(before), "=&r"(after)                                            \
                     :                                                                        \
                     : "memory");                                                             \
    return after - before - 1;                                                                \
  }
SEGMENT(1)
SEGMENT(2)
SEGMENT(5)
SEGMENT(10)
SEGMENT(20)

static void run(const char *name, unsigned long (*segment)(void)) {
  uint64_t found = 0;
  for (unsigned turn = 0; turn < RUNS; turn += 1) found += segment();
  say("counter segment_");
  say(name);
  say(" ");
  say_number(found);
  say("\n");
}

int main(void) {
  if (!hairspring_clock_start()) return 1;
  run("1", segment_1);
  run("2", segment_2);
  run("5", segment_5);
  run("10", segment_10);
  run("20", segment_20);
  return 0;
}
