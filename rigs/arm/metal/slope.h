/* SLOPES(name, read, code): functions name_0 to name_20, in the array `name`: the ticks from one
 * `read` to the next one with k copies of the code between them. `read` and `code` are assembly; %2
 * is a register to work with and %3 points to memory. */
#ifndef HAIRSPRING_RIG_SLOPE_H
#define HAIRSPRING_RIG_SLOPE_H

#ifndef SLOPE_CLOBBERS
#define SLOPE_CLOBBERS "memory"
#endif
#define SLOPE(name, k, read, code)                                                               \
  static unsigned long name##_##k(void) {                                                        \
    static unsigned long memory;                                                                 \
    unsigned long before, after, work = 3;                                                       \
    __asm__ volatile("isb\n\t" read("%0") "\n\t.rept " #k "\n\t" code "\n\t.endr\n\t" read("%1") \
                     : "=&r"(before), "=&r"(after), "+&r"(work)                                  \
                     : "r"(&memory)                                                              \
                     : SLOPE_CLOBBERS);                                                          \
    return after - before;                                                                       \
  }
#define FOR_SLOPES(make, ...)                                                             \
  make(__VA_ARGS__, 0) make(__VA_ARGS__, 1) make(__VA_ARGS__, 2) make(__VA_ARGS__, 3)     \
      make(__VA_ARGS__, 4)                                                                \
  make(__VA_ARGS__, 5) make(__VA_ARGS__, 6) make(__VA_ARGS__, 7) make(__VA_ARGS__, 8)     \
      make(__VA_ARGS__, 9)                                                                \
  make(__VA_ARGS__, 10) make(__VA_ARGS__, 11) make(__VA_ARGS__, 12) make(__VA_ARGS__, 13) \
  make(__VA_ARGS__, 14) make(__VA_ARGS__, 15) make(__VA_ARGS__, 16) make(__VA_ARGS__, 17) \
  make(__VA_ARGS__, 18) make(__VA_ARGS__, 19) make(__VA_ARGS__, 20)
#define SLOPE_OF(name, read, code, k) SLOPE(name, k, read, code)
#define SLOPE_ENTRY(name, k) name##_##k,
#define SLOPES(name, read, code)             \
  FOR_SLOPES(SLOPE_OF, name, read, code)     \
  static unsigned long (*const name[])(void) = {FOR_SLOPES(SLOPE_ENTRY, name)};

/* How many of k = 0 to 20 do not give k + 1. */
static inline unsigned slopes_wrong(unsigned long (*const *slopes)(void)) {
  unsigned wrong = 0;
  for (unsigned k = 0; k <= 20; k += 1) wrong += slopes[k]() != k + 1;
  return wrong;
}

#endif
