/* Calls that read what differs from time to time: the tens of the argument choose what, and loops
 * that wait for it make other trips each time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include <cpuid.h>
static int file;
__attribute__((noinline)) uint64_t spin(int n, uint64_t x) {
  unsigned long long r;
  unsigned a, b, c, d;
  struct timespec now;
  for (int i = 0; i < (n % 10) + 2; i++) x = x * 3 + 1;
  switch (n / 10) {
  case 1: do { x = x * 3; __asm__ volatile("rdrand %0" : "=r"(r)); } while (r & 3); break;
  case 2: { clock_gettime(CLOCK_MONOTONIC, &now); long end = now.tv_nsec + 1000 * n;
      do { x = x * 3; clock_gettime(CLOCK_MONOTONIC, &now); } while (now.tv_nsec < end); break; }
  case 3: { uint64_t end = __rdtsc() + 3000; while (__rdtsc() < end) x = x * 3; break; }
  case 4: x += __rdtsc(); break;
  case 5: x += (uint64_t)time(0); break;
  case 6: __cpuid(0, a, b, c, d); x += a; break;
  case 7: __asm__ volatile("rdrand %0" : "=r"(r)); x += r; break;
  case 8: __asm__ volatile("rdrand %0" : "=r"(r)); if ((r & 1023) == 7)
    x += (uint64_t)write(file, "h\n", 2); break;
  case 9: x += (uint64_t)clock(); break;
  }
  return x;
}
int main(int argc, char **argv) {
  file = argc > 2 ? open(argv[2], O_CREAT | O_RDWR | O_APPEND, 0600) : -1;
  return (int)(spin(argc > 1 ? atoi(argv[1]) : 0, 3) >> 63);
}
