/* The speed of copying memory that is not in the cache, with lmbench's interface: every trip copies
 * another piece of a range that is larger than most caches. */
#include "bench.h"

#define PIECES 64
#define BYTES (1024 * 1024)

int main(void) {
  size_t at = 0;
  char *from = malloc((size_t)PIECES * BYTES), *to = malloc((size_t)PIECES * BYTES);
  if (from == NULL || to == NULL) return 1;
  /* Pages that were never written share one empty page, which is in the cache. */
  memset(from, 1, (size_t)PIECES * BYTES);
  memset(to, 2, (size_t)PIECES * BYTES);
  BENCH_USE(from);
  BENCH_USE(to);
  static char no_loop[] = "LOOP_O=0.0";
  putenv(no_loop);
  BENCH(bcopy(from + at, to + at, BYTES); at = (at + BYTES) % ((size_t)PIECES * BYTES), 0);
  micro("bcopy of 1 MByte beyond the cache", get_n());
  mb(BYTES * get_n());
  free(from);
  free(to);
  return 0;
}
