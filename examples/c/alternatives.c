/* Benchmarks run by the engine: a division by a variable against one by a constant, in the same
 * rounds, a copy at two sizes, a body after an init, and a load that misses all caches. The
 * program's --help shows its command line.
 *
 *   cc -O2 alternatives.c $(pkg-config --cflags --libs hairspring) -o alternatives
 *   ./alternatives */
#include "hairspring.h"

#include <string.h>

static unsigned char from[4096], to[4096];

static void fill(int64_t size) {
  memset(from, (int)size & 0x7f, sizeof from);
  HAIRSPRING_USE(&from[0]);
}

HAIRSPRING_BENCHMARK(by_variable, (uint64_t x = 1000, c = 10), HAIRSPRING_OPAQUE(x);
    HAIRSPRING_OPAQUE(c); HAIRSPRING_USE(x / c));

HAIRSPRING_BENCHMARK(by_constant, (uint64_t x = 1000), HAIRSPRING_OPAQUE(x);
    HAIRSPRING_USE(x / 10));

HAIRSPRING_BENCHMARK(copy, (size_t size = (size_t)argument), memcpy(to, from, size);
    HAIRSPRING_USE(&to[0]);
                     HAIRSPRING_USE_MEMORY());

HAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c;
    HAIRSPRING_OPAQUE(x));

HAIRSPRING_BENCHMARK_INIT(ten_behind_four, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)),
    (HAIRSPRING_REPEAT_4(x *= c; HAIRSPRING_OPAQUE(x))),
    HAIRSPRING_REPEAT_8(x *= c; HAIRSPRING_OPAQUE(x))
    HAIRSPRING_REPEAT_2(x *= c; HAIRSPRING_OPAQUE(x)));

HAIRSPRING_BENCHMARK_COLD(load_cold, (unsigned char byte), (from, 1),
    byte = *(volatile unsigned char *)from; HAIRSPRING_USE(byte));

HAIRSPRING_MAIN({.benchmark = &by_variable},
                {.benchmark = &by_constant, .alternative = 1},
                {.benchmark = &copy, .setup = fill, .argument_name = "size",
                    .arguments = {64, 4096}, .argument_count = 2},
                {.benchmark = &multiply},
                {.benchmark = &ten_behind_four},
                {.benchmark = &load_cold})
