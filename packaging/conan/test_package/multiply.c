/* Prints readings of a multiplication. */
#include <hairspring.h>

HAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c;
    HAIRSPRING_OPAQUE(x));

HAIRSPRING_MAIN({.benchmark = &multiply})
