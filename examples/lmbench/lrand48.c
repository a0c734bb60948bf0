/* The time of a pseudo-random number, with lmbench's interface:
 *
 *   cc -O2 lrand48.c $(pkg-config --cflags --libs hairspring) \
 *     -I$(pkg-config --variable=includedir hairspring)/lmbench */
#include "bench.h"

int main(void) {
  /* A call takes several cycles and hides the loop, which takes one: its overhead need not be
   * measured. */
  static char no_loop[] = "LOOP_O=0.0";
  putenv(no_loop);
  BENCH(lrand48(), 0);
  micro("lrand48()", get_n());
  return 0;
}
