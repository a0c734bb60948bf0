/* The latency of a multiplication, a copy within the cache at two sizes, and a body that needs an
 * init. Prints raw observations; read them with
 *
 *   cc -O2 -I../../probe multiply.c -o multiply && ./multiply > multiply.csv
 *   hairspring fit multiply.csv */
#include "hairspring.h"

#include <string.h>

static unsigned char from[4096], to[4096];

static void fill(int64_t size) { memset(from, (int)size & 0x7f, sizeof from); }

HAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c;
    HAIRSPRING_OPAQUE(x));

HAIRSPRING_BENCHMARK(copy, (size_t size = (size_t)argument), memcpy(to, from, size);
    HAIRSPRING_USE(&to[0]);
                     HAIRSPRING_USE_MEMORY());

HAIRSPRING_BENCHMARK_INIT(divide, (uint64_t x = 1, c = 3; HAIRSPRING_OPAQUE(c)),
    (x = UINT64_MAX; HAIRSPRING_OPAQUE(x)), x /= c;
                          HAIRSPRING_OPAQUE(x));

int main(void) {
  static const struct hairspring_entry all[] = {
      {.benchmark = &multiply},
      {.benchmark = &copy, .setup = fill, .argument_name = "size", .arguments = {64, 4096},
          .argument_count = 2},
      {.benchmark = &divide},
  };
  return hairspring_print(all, sizeof all / sizeof all[0]);
}
