/* One span of time inside a program, with the same code on Linux, Windows and macOS: the thread at
 * its highest priority, the rate of the clock, start, stop, seconds with their uncertainty, the
 * priority restored.
 *
 *   cc -O2 -I../../probe stopwatch.c -o stopwatch && ./stopwatch
 *   x86_64-w64-mingw32-gcc -O2 -I../../probe stopwatch.c -o stopwatch.exe */
#include "hairspring_system.h"

#include <stdio.h>

static double values[100000];

static double sum(void) {
  double total = 0.0;
  for (size_t at = 0; at < sizeof values / sizeof values[0]; at += 1) total += values[at];
  return total;
}

int main(void) {
  struct hairspring_priority priority;
  int raised = hairspring_priority_raise(&priority);
  struct hairspring_rate rate = hairspring_clock_rate(0.1);
  struct hairspring_watch watch = hairspring_watch_new();

  HAIRSPRING_USE(&values[0]); /* the compiler no longer knows their contents */
  HAIRSPRING_USE_MEMORY();
  HAIRSPRING_USE(sum()); /* warms the cache */
  hairspring_watch_start(&watch);
  double total = sum();
  HAIRSPRING_USE(total);
  struct hairspring_time time = hairspring_watch_time(&watch, &rate);

  int released = hairspring_priority_release(&priority);
  printf("clock     %s in steps of %.0f, %.0f Hz", HAIRSPRING_CLOCK, rate.quantum_ticks, rate.hz);
  if (rate.seconds > 0.0) {
    printf(" +- %.0f, measured over %.2f s\n", 2.0 * rate.uncertainty_hz, rate.seconds);
  } else {
    printf(", as stated\n");
  }
  if (raised) {
    printf("priority  raised from %d, %s\n", priority.before,
        released ? "given back" : "NOT given back");
  } else {
    printf("priority  not raised: the system refused it (error %d)\n", priority.error);
  }
  printf("sum       %.3f us +- %.2g\n", time.seconds * 1e6, 2.0 * time.uncertainty * 1e6);
  return 0;
}
