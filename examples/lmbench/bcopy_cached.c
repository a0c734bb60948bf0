/* The speed of copying memory repeatedly within the cache, with lmbench's interface. */
#include "bench.h"

#define BYTES (128 * 1024)

int main(void) {
  char *from = malloc(BYTES), *to = malloc(BYTES);
  if (from == NULL || to == NULL) return 1;
  memset(from, 1, BYTES);
  /* The compiler may omit a copy that nothing reads; after this, something may read it. */
  BENCH_USE(from);
  BENCH_USE(to);
  static char no_loop[] = "LOOP_O=0.0";
  putenv(no_loop);
  BENCH(bcopy(from, to, BYTES), 0);
  micro("bcopy of 128 KByte within the cache", get_n());
  mb(BYTES * get_n());
  free(from);
  free(to);
  return 0;
}
