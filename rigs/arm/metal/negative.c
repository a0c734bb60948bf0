/* Cores whose cycle counter never counts: the next clock is taken, and the reason is printed. */
#include "hairspring_arm.h"
#include "rig.h"

int main(void) {
  int started = hairspring_clock_start();
  check_text("the clock", hairspring_clock_name(), EXPECTED_CLOCK);
  check_text("the reason", hairspring_clock_why(), EXPECTED_REASON);
#ifdef EXPECTED_NOTHING
  check(!started && hairspring_clock_hz() == 0, "the start fails");
#else
  uint64_t before = hairspring_now();
  for (unsigned turn = 0; turn < 1000; turn += 1) __asm__ volatile("");
  check(started && hairspring_now() > before, "the clock that was taken counts");
#endif
  return failures;
}
