/* Prints the rows that the macros of hairspring.h make, for rows.py to compare with the engine's.
 * */
#include "hairspring.h"

#include <inttypes.h>

static const char data[64];

HAIRSPRING_BENCHMARK(line, (uint64_t x = 3), HAIRSPRING_OPAQUE(x));
HAIRSPRING_BENCHMARK_INIT(init, (uint64_t x = 3), (HAIRSPRING_OPAQUE(x)), HAIRSPRING_OPAQUE(x));
#ifdef HAIRSPRING_FLUSH_LINE
HAIRSPRING_BENCHMARK_COLD(cold, (uint64_t x = 3), (data, sizeof data), HAIRSPRING_OPAQUE(x));
#endif

static void print(const struct hairspring_benchmark *benchmark) {
  for (size_t at = 0; at < benchmark->row_count; at += 1) {
    const struct hairspring_row *row = &benchmark->rows[at];
    const char *kind = (row->order & HAIRSPRING_IN_BLOCKS) != 0 ? "blocks" : benchmark->name;
    printf("%s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", kind, row->bodies, row->inits,
        hairspring_order(row));
  }
}

int main(void) {
  print(&line);
  print(&init);
#ifdef HAIRSPRING_FLUSH_LINE
  print(&cold);
#endif
  return 0;
}
