#include "rig.h"
/* A machine of four states that jumps from one to another. */
#define NEXT do { if (i == count) return x; switch (codes[i++] & 3) { case 0: goto a; \
    case 1: goto b; case 2: goto d; default: goto e; } } while (0)
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  int i = 0;
  NEXT;
a: MULTIPLY(14); NEXT;
b: ADD(33); NEXT;
d: MULTIPLY(27); NEXT;
e: ADD(8); NEXT;
}
