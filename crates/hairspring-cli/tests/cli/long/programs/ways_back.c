/* Functions that control leaves and enters in other ways than by calls, and functions that map and
 * unmap memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) uint64_t odd(int n, uint64_t x);
__attribute__((noinline)) uint64_t even(int n, uint64_t x) {
  if (n == 0) return x;
  return odd(n - 1, x * 3);
}
__attribute__((noinline)) uint64_t odd(int n, uint64_t x) {
  if (n == 0) return x + 1;
  return even(n - 1, x * 5 ^ n);
}
__attribute__((noinline, cold)) void rare(int n) { __asm__ volatile("" :: "r"(n)); }
__attribute__((noinline)) uint64_t chilly(int n, uint64_t x) {
  for (int i = 0; i < n; i++) {
    x = x * 3 + 1;
    if (__builtin_expect(i % 3 == 2, 0)) { rare(i); x ^= 5; rare(n); }
    x += i;
  }
  return x;
}
__attribute__((noinline)) uint64_t run(const unsigned char *code, uint64_t x) {
  static const void *const to[] = {&&stop, &&add, &&mul, &&xr};
  goto *to[*code++];
add: x += 7; goto *to[*code++];
mul: x *= 3; x *= 3; goto *to[*code++];
xr: x ^= 11; goto *to[*code++];
stop: return x;
}
__attribute__((noinline)) uint64_t table(const unsigned char *code, int n, uint64_t x) {
  for (int i = 0; i < n; i++)
    switch (code[i] * 3 % 7) { case 0: x += 7; break; case 1: x *= 3; break; case 2: x ^= 9; break;
        case 3: x *= 7; break; case 4: x -= 5; break; case 5: x = x << 3 | 1; break;
    case 6: x *= 11; break; }
  return x;
}
__attribute__((noinline)) uint64_t freed(unsigned char *block, size_t size, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 3 + block[i * 64];
  munmap(block, size);
  return sum;
}
__attribute__((noinline)) uint64_t grown(int n) {
  uint64_t sum = 0;
  unsigned char *block = malloc(n % 2 ? 1 << 20 : 4000);
  for (int i = 0; i < n; i++) block[i * 64] = (unsigned char)i;
  for (int i = 0; i < n; i++) sum = sum * 3 + block[i * 64];
  if (n % 3) free(block);
  return sum;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  unsigned char code[256];
  for (int i = 0; i < n; i++) code[i] = 1 + (i * 7 + n) % 3;
  code[n] = 0;
  unsigned char *block =
      mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(block, n, 1 << 20);
  uint64_t x = even(n, 3) + chilly(n, 3) + run(code, 3) + table(code, n, 5) +
      freed(block, 1 << 20, n) + grown(n);
  return (int)(x >> 63);
}
