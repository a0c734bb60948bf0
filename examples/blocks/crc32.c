/* A CRC-32 of messages, bit by bit as in its definition. The first argument is the length of the
 * message, the second the seed of its bytes:
 *
 *   cc -O1 -g crc32.c -o crc32
 *   hairspring blocks ./crc32 --function crc32 --generate 'python3 messages.py 40'
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) uint32_t crc32(const uint8_t *message, int length) {
  uint32_t remainder = 0xffffffff;
  for (int i = 0; i < length; i++) {
    remainder ^= message[i];
    for (int bit = 0; bit < 8; bit++) {
      if (remainder & 1)
        remainder = (remainder >> 1) ^ 0xedb88320;
      else
        remainder >>= 1;
    }
  }
  return ~remainder;
}

int main(int argc, char **argv) {
  static uint8_t message[4096];
  int length = argc > 1 ? atoi(argv[1]) : 0;
  uint32_t state = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
  if (length < 0 || length > 4096) return 2;
  for (int i = 0; i < length; i++) {
    state = state * 1664525 + 1013904223;
    message[i] = (uint8_t)(state >> 24);
  }
  printf("%08x\n", (unsigned)crc32(message, length));
  return 0;
}
