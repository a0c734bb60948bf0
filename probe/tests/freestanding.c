/* Compiled with -ffreestanding -nostdlib into an object that needs only the symbols that compilers
 * may always use. */
#define HAIRSPRING_FREESTANDING
#include "hairspring.h"

void put_somewhere(char letter);
void observe(void);
double watch_nothing(void);

HAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c;
    HAIRSPRING_OPAQUE(x));

void observe(void) {
  static const struct hairspring_entry all_entries[] = {{.benchmark = &multiply}};
  struct hairspring_rounds rounds = {20, 10000, put_somewhere, 7, 0};
  hairspring_observe_all(&rounds, all_entries, 1);
}

double watch_nothing(void) {
  struct hairspring_watch watch = hairspring_watch_new();
  hairspring_watch_start(&watch);
  return hairspring_watch_ticks(&watch);
}
