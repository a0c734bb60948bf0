/* The rig of the programs here: `work` gets the codes of the command line. Its blocks are chains
 * through one register, which wait for each other: n multiplications (imul) take 3 n cycles, n
 * additions of a register (add) take n. All else can run beside them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define MULTIPLY(n) __asm__ volatile(".rept " #n "\n imul %1, %0\n .endr" : "+r"(x) : "r"(c))
#define ADD(n) __asm__ volatile(".rept " #n "\n add %1, %0\n .endr" : "+r"(x) : "r"(c))
__attribute__((noinline, noclone))
    uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c);
int main(int argc, char **argv) {
  static uint8_t codes[4096];
  int n = 0;
  for (int i = 1; i < argc && n < 4096; i++) codes[n++] = (uint8_t)atoi(argv[i]);
  printf("%llu\n", (unsigned long long)work(codes, n, 3, 5));
  return 0;
}
