/* Output and checks of a program without a system, by semihosting: QEMU prints the text on standard
 * error and ends with the program's status. */
#ifndef HAIRSPRING_RIG_H
#define HAIRSPRING_RIG_H

#include <stddef.h>
#include <stdint.h>

#define SEMIHOSTING_WRITE0 0x04ul
#define SEMIHOSTING_EXIT_EXTENDED 0x20ul
#define SEMIHOSTING_ENDED 0x20026ul

int main(void);
void leave(int status);
void on_interrupt(void);
void *memset(void *to, int byte, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes);

static inline unsigned long semihosting(unsigned long operation, const void *argument) {
#if defined(__aarch64__)
  register unsigned long r0 __asm__("x0") = operation;
  register const void *r1 __asm__("x1") = argument;
  __asm__ volatile("hlt #0xf000" : "+r"(r0) : "r"(r1) : "memory");
#else
  register unsigned long r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
#if __ARM_ARCH_PROFILE == 'M'
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
#else
  __asm__ volatile("svc 0x123456" : "+r"(r0) : "r"(r1) : "memory", "lr");
#endif
#endif
  return r0;
}

static inline void say(const char *text) { (void)semihosting(SEMIHOSTING_WRITE0, text); }

static inline void say_number(uint64_t number) {
  char digits[21];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  say(digits + at);
}

/* Counts failures, which are the program's status. */
extern int failures;

static inline void check(int passed, const char *name) {
  say(passed ? "ok: " : "FAILED: ");
  say(name);
  say("\n");
  if (!passed) failures += 1;
}

/* As check, with the value that was found and the range that it must be in. */
static inline void check_range(const char *name, uint64_t found, uint64_t least, uint64_t most) {
  int passed = found >= least && found <= most;
  say(passed ? "ok: " : "FAILED: ");
  say(name);
  say(" = ");
  say_number(found);
  if (!passed) {
    say(", must be from ");
    say_number(least);
    say(" to ");
    say_number(most);
  }
  say("\n");
  if (!passed) failures += 1;
}

static inline void check_text(const char *name, const char *found, const char *expected) {
  const char *one = found, *other = expected;
  while (*one != 0 && *one == *other) one += 1, other += 1;
  say(*one == *other ? "ok: " : "FAILED: ");
  say(name);
  say(" is \"");
  say(found);
  if (*one != *other) {
    say("\", must be \"");
    say(expected);
    failures += 1;
  }
  say("\"\n");
}

#endif
