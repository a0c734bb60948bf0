/* The generic timer, where it makes one tick for each instruction (-icount shift=4: 16 ns, at 62.5
 * MHz). */
#if defined(__aarch64__)
#define READ(into) "mrs " into ", cntvct_el0"
#else
#define READ(into) "mrrc p15, 1, " into ", r12, c14"
#define SLOPE_CLOBBERS "memory", "r12"
#endif

#include "hairspring_arm.h"
#include "rig.h"
#include "slope.h"

SLOPES(of_add, READ, "add %2, %2, %2")

int main(void) {
  check(hairspring_clock_start_only("cntvct") == 1, "the clock starts");
  check_range("rate", hairspring_clock_hz(), 62500000, 62500000);
  check_range("wrong slopes of the generic timer, k = 0 to 20", slopes_wrong(of_add), 0, 0);
  check(hairspring_clock_span() == UINT64_MAX, "two reads may be any time apart");
  return failures;
}
