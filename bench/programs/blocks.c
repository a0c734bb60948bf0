#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* Blocks are dependent chains through one register: n copies of the multiplication take 3 n cycles.
 * The arguments are codes, each of which chooses a case of the switch and the arms of the branches
 * in one trip of the loop. */
#define CHAIN(n) __asm__ volatile(".rept " #n "\n imul %1, %0\n .endr" : "+r"(x) : "r"(c))
__attribute__((noinline)) uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  CHAIN(20);
  for (int i = 0; i < count; i++) {
    CHAIN(10);
    switch (codes[i] & 7) {
    case 0: CHAIN(20); break;
    case 1: CHAIN(24); break;
    case 2: CHAIN(28); break;
    case 3: CHAIN(32); break;
    case 4: CHAIN(36); break;
    case 5: CHAIN(40); break;
    case 6: CHAIN(44); break;
    case 7: CHAIN(48); break;
    }
    if (codes[i] & 8) {
      CHAIN(12);
      if (codes[i] & 16) CHAIN(16); else CHAIN(22);
    }
    if (codes[i] & 32) CHAIN(30);
  }
  CHAIN(15);
  return x;
}
int main(int argc, char **argv) {
  static uint8_t codes[1024];
  int n = 0;
  for (int i = 1; i < argc && n < 1024; i++) codes[n++] = (uint8_t)atoi(argv[i]);
  printf("%llu\n", (unsigned long long)work(codes, n, 3, 5));
  return 0;
}
