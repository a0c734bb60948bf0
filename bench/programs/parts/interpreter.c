#include "rig.h"
/* An interpreter: an instruction is done by its own code, which jumps to that of the next one by a
 * table. */
uint64_t work(const uint8_t *codes, int count, uint64_t x, uint64_t c) {
  static const void *const table[8] =
      {&&add, &&load, &&store, &&test, &&jump, &&call, &&push, &&end};
  const uint8_t *at = codes, *last = codes + count;
#define NEXT goto *table[at < last ? *at++ % 7 : 7]
  NEXT;
add: MULTIPLY(4); NEXT;
load: ADD(20); MULTIPLY(3); NEXT;
store: MULTIPLY(8); NEXT;
test: ADD(9); if (at < last && *at & 8) { MULTIPLY(10); } NEXT;
jump: ADD(6); NEXT;
call: MULTIPLY(20); NEXT;
push: MULTIPLY(2); ADD(11); NEXT;
end: return x;
}
