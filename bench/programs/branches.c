/* A call with branches that nothing predicts, for the speed of following: branches N makes N trips
 * of some ten instructions. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) uint64_t step(uint64_t x) {
  return x * 6364136223846793005u + 1442695040888963407u;
}

__attribute__((noinline)) uint64_t work(uint64_t trips, uint64_t x) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < trips; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    switch (x & 7) {
      case 0: sum += x; break;
      case 1: sum ^= x >> 3; break;
      case 2: sum -= i; break;
      case 3: x = step(x); break;
      case 4: if (x & 64) sum++; break;
      case 5: if (x & 128) sum += i; else sum ^= i; break;
      case 6: while (sum & 1) sum >>= 1; break;
    }
  }
  return sum;
}

int main(int argc, char **argv) {
  printf("%llu\n", (unsigned long long)work(argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
      88172645463325252u));
  return 0;
}
