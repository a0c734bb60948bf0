/* What all programs of this folder are linked with. */
#include "rig.h"

int failures = 0;

void leave(int status) {
  const unsigned long block[2] = {SEMIHOSTING_ENDED, (unsigned long)status};
  for (;;) (void)semihosting(SEMIHOSTING_EXIT_EXTENDED, block);
}

/* For programs without interrupts. */
__attribute__((weak)) void on_interrupt(void) { leave(98); }

/* Compilers may call these. */
void *memset(void *to, int byte, size_t bytes) {
  volatile unsigned char *at = (volatile unsigned char *)to;
  while (bytes-- > 0) *at++ = (unsigned char)byte;
  return to;
}
void *memcpy(void *to, const void *from, size_t bytes) {
  volatile unsigned char *at = (volatile unsigned char *)to;
  const unsigned char *source = (const unsigned char *)from;
  while (bytes-- > 0) *at++ = *source++;
  return to;
}
