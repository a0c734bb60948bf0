/* The choice of a clock at run time: the first of a list that can be enabled and counts. */
#ifndef HAIRSPRING_ARM_CHOICE_H
#define HAIRSPRING_ARM_CHOICE_H

#include "extend.h"

/* A clock that may be there. `enable` returns NULL, or why it cannot be had; the other functions
 * follow only after NULL. */
struct hairspring_arm_clock {
  const char *name;
  const char *(*enable)(void);
  uint64_t (*ticks)(void);
  uint64_t (*hz)(void); /* 0: not stated */
  uint64_t span;
  void (*disable)(void); /* or NULL */
};

#define HAIRSPRING_WHY_BYTES 512u

#ifdef HAIRSPRING_ARM_LINUX
#define HAIRSPRING_ARM_EACH_THREAD __thread
#else
#define HAIRSPRING_ARM_EACH_THREAD
#endif

/* The clock that was taken. Weak, so that all files of a program share it: a counter of 32 bits has
 * only one overflow flag. */
struct hairspring_arm_state {
  uint64_t (*ticks)(void);
  const char *name;
  uint64_t hz;
  uint64_t span;
  void (*disable)(void);
  struct hairspring_wraps wraps;
  unsigned doubts;
  char why[HAIRSPRING_WHY_BYTES];
};
static uint64_t hairspring_start_and_read(void);
__attribute__((weak, visibility("hidden")))
    HAIRSPRING_ARM_EACH_THREAD struct hairspring_arm_state hairspring_arm = {
    hairspring_start_and_read, "none", 0, 0, NULL, {0, 0}, 0, {0}};

static uint64_t hairspring_no_ticks(void) { return 0; }

static inline void hairspring_add_why(const char *text) {
  size_t at = 0;
  while (hairspring_arm.why[at] != 0) at += 1;
  for (; *text != 0 && at + 1 < HAIRSPRING_WHY_BYTES; at += 1) hairspring_arm.why[at] = *text++;
  hairspring_arm.why[at] = 0;
}

static inline void hairspring_refuse(const char *name, const char *reason) {
  if (hairspring_arm.why[0] != 0) hairspring_add_why("; ");
  hairspring_add_why(name);
  hairspring_add_why(": ");
  hairspring_add_why(reason);
}

/* Whether a clock counts. The slowest, a generic timer of 32 kHz, makes a step in 30 us. */
static inline int hairspring_counts(uint64_t (*ticks)(void)) {
  uint64_t first = ticks();
  for (unsigned reads = 0; reads < 50000; reads += 1) {
    if (ticks() != first) return 1;
  }
  return 0;
}

static inline int hairspring_same_text(const char *text, const char *other_text) {
  while (*text != 0 && *text == *other_text) text += 1, other_text += 1;
  return *text == *other_text;
}

static inline void hairspring_release_clock(void) {
  if (hairspring_arm.disable != NULL) hairspring_arm.disable();
  hairspring_arm.ticks = hairspring_no_ticks;
  hairspring_arm.name = "none";
  hairspring_arm.hz = 0;
  hairspring_arm.span = 0;
  hairspring_arm.disable = NULL;
  hairspring_arm.wraps.high = hairspring_arm.wraps.last = 0;
}

static inline int hairspring_take(const struct hairspring_arm_clock *clock) {
  const char *refused = clock->enable();
  hairspring_arm.disable = clock->disable;
  if (refused == NULL && !hairspring_counts(clock->ticks))
    refused = "it accepts its settings but does not count";
  if (refused != NULL) {
    hairspring_release_clock();
    hairspring_refuse(clock->name, refused);
    return 0;
  }
  hairspring_arm.name = clock->name;
  hairspring_arm.hz = clock->hz();
  hairspring_arm.span = clock->span;
  hairspring_arm.doubts = 0;
  hairspring_arm.ticks = clock->ticks;
  return 1;
}

/* Takes the first clock, or the one with this name. */
static inline int hairspring_choose_clock(const struct hairspring_arm_clock *clocks, size_t count,
    const char *only) {
  hairspring_release_clock();
  hairspring_arm.why[0] = 0;
  for (size_t at = 0; at < count; at += 1) {
    if ((only == NULL || hairspring_same_text(only, clocks[at].name)) &&
        hairspring_take(&clocks[at])) return 1;
  }
  if (hairspring_arm.why[0] == 0)
    hairspring_refuse(only == NULL ? "clock" : only, "there is no clock of this name here");
  return 0;
}

#endif
