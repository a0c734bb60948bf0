/* Hairspring: a precision timing instrument inside your own C program. C11, gcc and clang, one header; Linux, Windows
 * (mingw-w64), macOS (compiled only, never run), and machines without a system.
 *
 *   hairspring_now()                 an ordered read of the finest clock there is, inline
 *   hairspring_clock_hz()            its ticks per second, 0 where nobody says so
 *   HAIRSPRING_USE(value)            the value counts as used: no instruction, no store, nothing else is disturbed
 *   HAIRSPRING_OPAQUE(variable)      the compiler no longer knows the variable's value: no instruction either
 *   HAIRSPRING_USE_MEMORY()          all memory counts as read and written here
 *   HAIRSPRING_REPEAT_64(code)       the code 64 times, straight-line
 *   struct hairspring_watch          a stopwatch that measures its overhead at the start and takes it off
 *   HAIRSPRING_BENCHMARK(...)        code to be timed; hairspring_print runs it and prints raw observations:
 *                                    program > file && hairspring fit file
 *
 * hairspring_system.h adds a raised priority, the measured rate of the clock, and the stopwatch's time in seconds.
 *
 * Where HAIRSPRING_ENGINE is defined (pkg-config and CMake do so) and the library is linked, hairspring_main has the engine
 * run the benchmarks and solve them.
 *
 * Before the #include may be defined: HAIRSPRING_FREESTANDING, where there is no C library; HAIRSPRING_READ_CLOCK(), an
 * expression of type uint64_t, to use a clock of your own; HAIRSPRING_CLOCK_HZ, the ticks per second of such a clock or of
 * the time stamp counter, where you know them; HAIRSPRING_SYSTEM_CLOCK, to use the system's clock: clock_gettime, or
 * QueryPerformanceCounter. */
#ifndef HAIRSPRING_H
#define HAIRSPRING_H

#if !defined(HAIRSPRING_FREESTANDING) && defined(__STRICT_ANSI__) && !defined(_POSIX_C_SOURCE) && \
    !defined(_WIN32) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif

#include <stddef.h>
#include <stdint.h>

/* ---- the system's clock ----------------------------------------------------------------------------------------- */

/* hairspring_system_now and hairspring_system_hz: its ticks, and how many a second has. How far these reads are ordered is
 * the system's own affair. */
#if defined(_WIN32) && !defined(HAIRSPRING_FREESTANDING)

/* Declared as <windows.h> declares them, which may come before or behind this header and is not needed by it. */
#ifndef _WINDOWS_
#ifdef __cplusplus
extern "C" {
#endif
union _LARGE_INTEGER;
__declspec(dllimport) int __stdcall QueryPerformanceCounter(union _LARGE_INTEGER *);
__declspec(dllimport) int __stdcall QueryPerformanceFrequency(union _LARGE_INTEGER *);
#ifdef __cplusplus
}
#endif
#endif
#define HAIRSPRING_SYSTEM_CLOCK_NAME "qpc"
/* Neither call fails on any Windows that has the other functions used here. */
static inline uint64_t hairspring_system_now(void) {
  int64_t ticks = 0;
  QueryPerformanceCounter((union _LARGE_INTEGER *)(void *)&ticks);
  return (uint64_t)ticks;
}
static inline uint64_t hairspring_system_hz(void) {
  int64_t hz = 0;
  QueryPerformanceFrequency((union _LARGE_INTEGER *)(void *)&hz);
  return (uint64_t)hz;
}

#elif !defined(HAIRSPRING_FREESTANDING)

#include <time.h>
#if defined(__APPLE__) && defined(CLOCK_MONOTONIC_RAW) /* there, the other one moves by microseconds */
#define HAIRSPRING_SYSTEM_CLOCK_NAME "monotonic_raw"
#define HAIRSPRING_SYSTEM_CLOCK_ID CLOCK_MONOTONIC_RAW
#elif defined(CLOCK_MONOTONIC)
#define HAIRSPRING_SYSTEM_CLOCK_NAME "monotonic"
#define HAIRSPRING_SYSTEM_CLOCK_ID CLOCK_MONOTONIC
#endif
#ifdef HAIRSPRING_SYSTEM_CLOCK_ID
static inline uint64_t hairspring_system_now(void) {
  struct timespec now;
  clock_gettime(HAIRSPRING_SYSTEM_CLOCK_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline uint64_t hairspring_system_hz(void) { return 1000000000u; }
#endif

#endif

/* ---- the clock -------------------------------------------------------------------------------------------------- */

/* Ticks since some fixed moment. All earlier code is done before the read, all later code begins behind it. */
#if defined(HAIRSPRING_READ_CLOCK)

#define HAIRSPRING_CLOCK "the program's own"
static inline uint64_t hairspring_now(void) { return HAIRSPRING_READ_CLOCK(); }

#elif defined(__x86_64__) && !defined(HAIRSPRING_SYSTEM_CLOCK)

#define HAIRSPRING_CLOCK "tsc"
static inline uint64_t hairspring_now(void) {
  uint64_t low, high; /* the upper halves are cleared */
  __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
  return high << 32 | low;
}

#elif defined(__aarch64__) && !defined(HAIRSPRING_SYSTEM_CLOCK)

#define HAIRSPRING_CLOCK "cntvct"
static inline uint64_t hairspring_now(void) {
  uint64_t ticks;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
}
static inline uint64_t hairspring_counter_hz(void) {
  uint64_t hz;
  __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
  return hz;
}
#ifndef HAIRSPRING_CLOCK_HZ
#define HAIRSPRING_CLOCK_HZ hairspring_counter_hz()
#endif

#elif defined(HAIRSPRING_FREESTANDING)
#error "hairspring.h knows no clock of this processor: define HAIRSPRING_READ_CLOCK() before it"
#elif !defined(HAIRSPRING_SYSTEM_CLOCK_NAME)
#error "hairspring.h needs clock_gettime: include it first, or define _POSIX_C_SOURCE as 199309L before any header"
#else

#define HAIRSPRING_CLOCK HAIRSPRING_SYSTEM_CLOCK_NAME
#undef HAIRSPRING_CLOCK_HZ
#define HAIRSPRING_CLOCK_HZ hairspring_system_hz()
#if defined(__x86_64__)
#define HAIRSPRING_FENCE() __asm__ volatile("lfence" : : : "memory")
#elif defined(__aarch64__)
#define HAIRSPRING_FENCE() __asm__ volatile("isb" : : : "memory")
#else
#define HAIRSPRING_FENCE() __asm__ volatile("" : : : "memory") /* no more than the system's own order */
#endif
static inline uint64_t hairspring_now(void) {
  HAIRSPRING_FENCE();
  uint64_t ticks = hairspring_system_now();
  HAIRSPRING_FENCE();
  return ticks;
}

#endif

/* Ticks per second of that clock, where the system, the processor or the program says so; 0 where they must be measured. */
static inline uint64_t hairspring_clock_hz(void) {
#ifdef HAIRSPRING_CLOCK_HZ
  return (uint64_t)(HAIRSPRING_CLOCK_HZ);
#else
  return 0;
#endif
}

/* ---- barriers --------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define HAIRSPRING_FLOATING_REGISTER "x"
#elif defined(__aarch64__)
#define HAIRSPRING_FLOATING_REGISTER "w"
#else
#define HAIRSPRING_FLOATING_REGISTER "m"
#endif

#define HAIRSPRING_IS_FLOATING(value) _Generic((value), float: 1, double: 1, default: 0)

/* The value, an integer, a pointer, a float or a double, counts as used. It stays in the register where it is. */
#define HAIRSPRING_USE(value)                                                   \
  do {                                                                          \
    __typeof__(value) hairspring_used = (value);                                \
    if (HAIRSPRING_IS_FLOATING(hairspring_used))                                \
      __asm__ volatile("" : : HAIRSPRING_FLOATING_REGISTER(hairspring_used));   \
    else                                                                        \
      __asm__ volatile("" : : "r"(hairspring_used));                            \
  } while (0)

/* The variable, of one of the same types, has a value that the compiler does not know, in the register where it is. */
#define HAIRSPRING_OPAQUE(variable)                                             \
  do {                                                                          \
    if (HAIRSPRING_IS_FLOATING(variable))                                       \
      __asm__ volatile("" : "+" HAIRSPRING_FLOATING_REGISTER(variable));        \
    else                                                                        \
      __asm__ volatile("" : "+r"(variable));                                    \
  } while (0)

/* All memory that a pointer could lead to counts as read and written. What is in registers stays there. An object whose
 * address nobody has seen is not among it: show the address first, HAIRSPRING_USE(&object). */
#define HAIRSPRING_USE_MEMORY() __asm__ volatile("" : : : "memory")

/* ---- straight-line repetition ----------------------------------------------------------------------------------- */

#define HAIRSPRING_REPEAT_0(...)
#define HAIRSPRING_REPEAT_1(...) { __VA_ARGS__; }
#define HAIRSPRING_REPEAT_2(...) HAIRSPRING_REPEAT_1(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_3(...) HAIRSPRING_REPEAT_2(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_4(...) HAIRSPRING_REPEAT_2(__VA_ARGS__) HAIRSPRING_REPEAT_2(__VA_ARGS__)
#define HAIRSPRING_REPEAT_6(...) HAIRSPRING_REPEAT_4(__VA_ARGS__) HAIRSPRING_REPEAT_2(__VA_ARGS__)
#define HAIRSPRING_REPEAT_8(...) HAIRSPRING_REPEAT_4(__VA_ARGS__) HAIRSPRING_REPEAT_4(__VA_ARGS__)
#define HAIRSPRING_REPEAT_12(...) HAIRSPRING_REPEAT_8(__VA_ARGS__) HAIRSPRING_REPEAT_4(__VA_ARGS__)
#define HAIRSPRING_REPEAT_16(...) HAIRSPRING_REPEAT_8(__VA_ARGS__) HAIRSPRING_REPEAT_8(__VA_ARGS__)
#define HAIRSPRING_REPEAT_24(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_8(__VA_ARGS__)
#define HAIRSPRING_REPEAT_32(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_16(__VA_ARGS__)
#define HAIRSPRING_REPEAT_48(...) HAIRSPRING_REPEAT_32(__VA_ARGS__) HAIRSPRING_REPEAT_16(__VA_ARGS__)
#define HAIRSPRING_REPEAT_64(...) HAIRSPRING_REPEAT_32(__VA_ARGS__) HAIRSPRING_REPEAT_32(__VA_ARGS__)
#define HAIRSPRING_REPEAT_96(...) HAIRSPRING_REPEAT_64(__VA_ARGS__) HAIRSPRING_REPEAT_32(__VA_ARGS__)
#define HAIRSPRING_REPEAT_128(...) HAIRSPRING_REPEAT_64(__VA_ARGS__) HAIRSPRING_REPEAT_64(__VA_ARGS__)
#define HAIRSPRING_REPEAT_192(...) HAIRSPRING_REPEAT_128(__VA_ARGS__) HAIRSPRING_REPEAT_64(__VA_ARGS__)
#define HAIRSPRING_REPEAT_256(...) HAIRSPRING_REPEAT_128(__VA_ARGS__) HAIRSPRING_REPEAT_128(__VA_ARGS__)

/* ---- the stopwatch ---------------------------------------------------------------------------------------------- */

/* One span of time, once; its overhead is what the watch says of nothing. For what is shorter than that overhead's
 * spread, use a benchmark. */
struct hairspring_watch {
  uint64_t started;
  double overhead_ticks;   /* mean of the overhead */
  double overhead_variance; /* of a single span, in ticks squared */
};

static inline void hairspring_watch_start(struct hairspring_watch *watch) { watch->started = hairspring_now(); }

/* Ticks since the start, raw: the overhead still in them. */
static inline uint64_t hairspring_watch_raw(const struct hairspring_watch *watch) { return hairspring_now() - watch->started; }

/* Ticks since the start, the overhead taken off. Never clamped: a time shorter than the overhead's spread may be below 0. */
static inline double hairspring_watch_ticks(const struct hairspring_watch *watch) {
  return (double)(int64_t)hairspring_watch_raw(watch) - watch->overhead_ticks;
}

#define HAIRSPRING_WATCH_RUNS 2000u

/* The overhead from runs with nothing in them; those above three times the shortest had an interrupt in them. */
static inline struct hairspring_watch hairspring_watch_new(void) {
  struct hairspring_watch watch = {0, 0.0, 0.0};
  uint64_t shortest = UINT64_MAX;
  double sum = 0.0, squares = 0.0, used = 0.0;
  for (unsigned run = 0; run < 2 * HAIRSPRING_WATCH_RUNS; run += 1) {
    hairspring_watch_start(&watch);
    uint64_t ticks = hairspring_watch_raw(&watch);
    if (run < HAIRSPRING_WATCH_RUNS) {
      shortest = ticks < shortest ? ticks : shortest;
    } else if (ticks <= 3 * shortest + 3) {
      /* About the shortest, so that large numbers do not cancel. */
      double above = (double)(int64_t)(ticks - shortest);
      sum += above, squares += above * above, used += 1.0;
    }
  }
  double mean = used > 0.0 ? sum / used : 0.0;
  watch.overhead_ticks = (double)shortest + mean;
  watch.overhead_variance = used > 1.0 ? (squares - used * mean * mean) / (used - 1.0) : 0.0;
  return watch;
}

/* ---- benchmarks ------------------------------------------------------------------------------------------------- */

/* Reads a clock; a row is handed the one to use. */
typedef uint64_t (*hairspring_read)(void);

#ifdef HAIRSPRING_ENGINE
#include "hairspring_engine.h"
#else
/* Code at one number of copies: reads the clock, runs `inits` inits and `bodies` bodies, reads the clock again. */
struct hairspring_row {
  uint64_t (*run)(hairspring_read now, int64_t argument);
  uint32_t bodies;
  uint32_t inits;
};
#endif

/* Code to be timed, made by HAIRSPRING_BENCHMARK. */
struct hairspring_benchmark {
  const char *name;
  const struct hairspring_row *rows;
  size_t row_count;
};

#define HAIRSPRING_UNWRAP(...) __VA_ARGS__

#define HAIRSPRING_ROW(name, row, declarations, ...)                                                               \
  __attribute__((noinline, aligned(64))) static uint64_t hairspring_row_##name##_##row(hairspring_read hairspring_clock_of_row, \
                                                                                       int64_t argument) {         \
    HAIRSPRING_UNWRAP declarations;                                                                                \
    (void)argument;                                                                                                \
    uint64_t hairspring_begin_of_row = hairspring_clock_of_row();                                                  \
    __VA_ARGS__                                                                                                    \
    return hairspring_clock_of_row() - hairspring_begin_of_row;                                                    \
  }
#define HAIRSPRING_LINE(name, k, declarations, ...) HAIRSPRING_ROW(name, k, declarations, HAIRSPRING_REPEAT_##k(__VA_ARGS__))
#define HAIRSPRING_PLANE(name, n, extra, declarations, init, ...)                                                  \
  HAIRSPRING_ROW(name, n##_##extra, declarations,                                                                  \
                 HAIRSPRING_REPEAT_##n(HAIRSPRING_UNWRAP init; __VA_ARGS__) HAIRSPRING_REPEAT_##extra(HAIRSPRING_UNWRAP init))

/* HAIRSPRING_BENCHMARK(name, (declarations), body): declares `name`. The declarations are made before the clock is read,
 * once for each row; they and the body may use `argument`. */
#define HAIRSPRING_BENCHMARK(name, declarations, ...)                                                              \
  HAIRSPRING_LINE(name, 1, declarations, __VA_ARGS__)                                                              \
  HAIRSPRING_LINE(name, 2, declarations, __VA_ARGS__)                                                              \
  HAIRSPRING_LINE(name, 3, declarations, __VA_ARGS__)                                                              \
  HAIRSPRING_LINE(name, 4, declarations, __VA_ARGS__)                                                              \
  HAIRSPRING_LINE(name, 8, declarations, __VA_ARGS__)                                                              \
  HAIRSPRING_LINE(name, 16, declarations, __VA_ARGS__)                                                             \
  HAIRSPRING_LINE(name, 32, declarations, __VA_ARGS__)                                                             \
  HAIRSPRING_LINE(name, 64, declarations, __VA_ARGS__)                                                             \
  HAIRSPRING_LINE(name, 96, declarations, __VA_ARGS__)                                                             \
  HAIRSPRING_LINE(name, 128, declarations, __VA_ARGS__)                                                            \
  HAIRSPRING_LINE(name, 192, declarations, __VA_ARGS__)                                                            \
  HAIRSPRING_LINE(name, 256, declarations, __VA_ARGS__)                                                            \
  static const struct hairspring_row hairspring_rows_##name[] = {                                                  \
      {hairspring_row_##name##_1, 1, 0},     {hairspring_row_##name##_2, 2, 0},     {hairspring_row_##name##_3, 3, 0},     \
      {hairspring_row_##name##_4, 4, 0},     {hairspring_row_##name##_8, 8, 0},     {hairspring_row_##name##_16, 16, 0},   \
      {hairspring_row_##name##_32, 32, 0},   {hairspring_row_##name##_64, 64, 0},   {hairspring_row_##name##_96, 96, 0},   \
      {hairspring_row_##name##_128, 128, 0}, {hairspring_row_##name##_192, 192, 0}, {hairspring_row_##name##_256, 256, 0}, \
  };                                                                                                               \
  static const struct hairspring_benchmark name = {#name, hairspring_rows_##name, sizeof hairspring_rows_##name / sizeof(struct hairspring_row)}

/* HAIRSPRING_BENCHMARK_INIT(name, (declarations), (init), body): the init runs before every body, and is told apart from
 * it by rows with more inits than bodies. */
#define HAIRSPRING_BENCHMARK_INIT(name, declarations, init, ...)                                                   \
  HAIRSPRING_PLANE(name, 1, 0, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 1, 1, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 2, 0, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 2, 2, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 4, 0, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 4, 4, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 8, 0, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 8, 8, declarations, init, __VA_ARGS__)                                                    \
  HAIRSPRING_PLANE(name, 16, 0, declarations, init, __VA_ARGS__)                                                   \
  HAIRSPRING_PLANE(name, 16, 16, declarations, init, __VA_ARGS__)                                                  \
  HAIRSPRING_PLANE(name, 32, 0, declarations, init, __VA_ARGS__)                                                   \
  HAIRSPRING_PLANE(name, 32, 16, declarations, init, __VA_ARGS__)                                                  \
  static const struct hairspring_row hairspring_rows_##name[] = {                                                  \
      {hairspring_row_##name##_1_0, 1, 1},    {hairspring_row_##name##_1_1, 1, 2},                                 \
      {hairspring_row_##name##_2_0, 2, 2},    {hairspring_row_##name##_2_2, 2, 4},                                 \
      {hairspring_row_##name##_4_0, 4, 4},    {hairspring_row_##name##_4_4, 4, 8},                                 \
      {hairspring_row_##name##_8_0, 8, 8},    {hairspring_row_##name##_8_8, 8, 16},                                \
      {hairspring_row_##name##_16_0, 16, 16}, {hairspring_row_##name##_16_16, 16, 32},                             \
      {hairspring_row_##name##_32_0, 32, 32}, {hairspring_row_##name##_32_16, 32, 48},                             \
  };                                                                                                               \
  static const struct hairspring_benchmark name = {#name, hairspring_rows_##name, sizeof hairspring_rows_##name / sizeof(struct hairspring_row)}

/* A benchmark as it is to be run. All but the benchmark may be left 0. */
struct hairspring_entry {
  const struct hairspring_benchmark *benchmark;
  void (*setup)(int64_t argument); /* runs once before the first row */
  const char *argument_name;       /* results are called `benchmark/argument_name:value` */
  int64_t arguments[8];
  unsigned argument_count;
  unsigned alternative; /* 1: runs in the same rounds as the entry before, and is compared with it */
};

/* How the raw observations are taken where there is no engine. */
struct hairspring_rounds {
  unsigned rounds;           /* how often each row is run */
  uint64_t longest_ticks;    /* rows that take longer are left out, but for the shortest four */
  void (*put)(char letter);  /* takes the text of the table */
  uint32_t random;           /* any number but 0 */
  uint32_t turns;            /* longest wait before a reading; found by hairspring_observe_all */
};

static inline void hairspring_wait(uint32_t turns) {
  for (; turns > 0; turns -= 1) HAIRSPRING_OPAQUE(turns);
}

/* The step of the clock in ticks: the greatest common divisor of the steps between reads. */
static inline uint64_t hairspring_quantum(void) {
  uint64_t divisor = 0, before = hairspring_now();
  for (unsigned reads = 0; reads < 4000; reads += 1) {
    uint64_t now = hairspring_now(), step = now - before;
    before = now;
    while (step != 0) {
      uint64_t rest = divisor % step;
      divisor = step, step = rest;
    }
  }
  return divisor;
}

/* Waits of up to so many turns spread over three steps of the clock, so that readings begin anywhere between two. */
static inline uint32_t hairspring_turns(uint64_t quantum) {
  uint64_t best = UINT64_MAX;
  for (unsigned run = 0; run < 5; run += 1) {
    uint64_t begin = hairspring_now();
    hairspring_wait(2000);
    uint64_t ticks = hairspring_now() - begin;
    best = ticks < best ? ticks : best;
  }
  uint64_t turns = best > 0 ? 6000 * quantum / best : 20000;
  return turns < 64 ? 64 : turns > 20000 ? 20000 : (uint32_t)turns;
}

static inline void hairspring_put_text(const struct hairspring_rounds *rounds, const char *text) {
  while (*text != 0) rounds->put(*text++);
}

/* Text within quotes: what would end the field or the line is put out of harm's way. */
static inline void hairspring_put_quoted(const struct hairspring_rounds *rounds, const char *text) {
  for (; *text != 0; text += 1) {
    if (*text == '"') rounds->put('"');
    rounds->put((unsigned char)*text < ' ' ? ' ' : *text);
  }
}

static inline void hairspring_put_number(const struct hairspring_rounds *rounds, uint64_t number) {
  char digits[20];
  unsigned count = 0;
  do digits[count++] = (char)('0' + (char)(number % 10));
  while ((number /= 10) > 0);
  while (count > 0) rounds->put(digits[--count]);
}

static inline uint32_t hairspring_random(struct hairspring_rounds *rounds) {
  uint32_t x = rounds->random;
  x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  return rounds->random = x;
}

#define HAIRSPRING_MOST_ROWS 16u

static inline uint64_t hairspring_read_now(void) { return hairspring_now(); }

/* The rows that are short enough; runs each of them to see. */
static inline unsigned hairspring_choose(const struct hairspring_rounds *rounds, const struct hairspring_entry *entry, int64_t argument,
                                         const struct hairspring_row *chosen[HAIRSPRING_MOST_ROWS]) {
  unsigned count = 0;
  for (size_t at = 0; at < entry->benchmark->row_count && count < HAIRSPRING_MOST_ROWS; at += 1) {
    const struct hairspring_row *row = &entry->benchmark->rows[at];
    row->run(hairspring_read_now, argument);
    if (row->run(hairspring_read_now, argument) <= rounds->longest_ticks || count < 4) {
      chosen[count++] = row;
    } else {
      break;
    }
  }
  return count;
}

static inline void hairspring_put_reading(const struct hairspring_rounds *rounds, const struct hairspring_entry *entry, int64_t argument,
                                          const struct hairspring_row *row, unsigned round, uint64_t ticks) {
  rounds->put('"');
  hairspring_put_quoted(rounds, entry->benchmark->name);
  if (entry->argument_count > 0) {
    rounds->put('/');
    hairspring_put_quoted(rounds, entry->argument_name != NULL ? entry->argument_name : "argument");
    hairspring_put_text(rounds, argument < 0 ? ":-" : ":");
    hairspring_put_number(rounds, argument < 0 ? 0 - (uint64_t)argument : (uint64_t)argument);
  }
  hairspring_put_text(rounds, "\",");
  const uint64_t numbers[4] = {row->bodies, row->inits, round, ticks};
  for (unsigned at = 0; at < 4; at += 1) {
    hairspring_put_number(rounds, numbers[at]);
    rounds->put(at < 3 ? ',' : '\n');
  }
}

/* One benchmark with one argument: rounds over its rows, each in a fresh random order, each row warmed before. */
static inline void hairspring_observe(struct hairspring_rounds *rounds, const struct hairspring_entry *entry, int64_t argument) {
  const struct hairspring_row *rows[HAIRSPRING_MOST_ROWS];
  if (entry->setup != NULL) entry->setup(argument);
  unsigned count = hairspring_choose(rounds, entry, argument, rows);
  for (unsigned round = 0; round < rounds->rounds; round += 1) {
    for (unsigned left = count; left > 0; left -= 1) {
      unsigned at = hairspring_random(rounds) % left;
      const struct hairspring_row *row = rows[at];
      rows[at] = rows[left - 1], rows[left - 1] = row;
      row->run(hairspring_read_now, argument);
      hairspring_wait(hairspring_random(rounds) % (rounds->turns + 1));
      hairspring_put_reading(rounds, entry, argument, row, round, row->run(hairspring_read_now, argument));
    }
  }
}

/* The raw observations of all benchmarks as a table that `hairspring fit` reads. */
static inline void hairspring_observe_all(struct hairspring_rounds *rounds, const struct hairspring_entry *entries, size_t count) {
  hairspring_put_text(rounds, "# hairspring observations: 1\n# clock: " HAIRSPRING_CLOCK "\n");
  uint64_t hz = hairspring_clock_hz();
  if (hz > 0) {
    hairspring_put_text(rounds, "# rate_hz: ");
    hairspring_put_number(rounds, hz);
    rounds->put('\n');
  }
  uint64_t quantum = hairspring_quantum();
  rounds->turns = hairspring_turns(quantum);
  if (quantum > 0) {
    hairspring_put_text(rounds, "# granularity: ");
    hairspring_put_number(rounds, quantum);
    rounds->put('\n');
  }
  hairspring_put_text(rounds, "series,body,init,round,ticks\n");
  for (size_t at = 0; at < count; at += 1) {
    unsigned arguments = entries[at].argument_count < 8 ? entries[at].argument_count : 8;
    hairspring_observe(rounds, &entries[at], entries[at].arguments[0]);
    for (unsigned next = 1; next < arguments; next += 1) hairspring_observe(rounds, &entries[at], entries[at].arguments[next]);
  }
}

#ifndef HAIRSPRING_FREESTANDING
#include <stdio.h>

static inline void hairspring_put_standard(char letter) { putchar(letter); }

/* Prints the raw observations of all benchmarks on standard output; returns the exit status of the program. */
static inline int hairspring_print(const struct hairspring_entry *entries, size_t count) {
  struct hairspring_rounds rounds = {400, 200000, hairspring_put_standard, 2463534242u, 0};
  hairspring_observe_all(&rounds, entries, count);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

#ifdef HAIRSPRING_ENGINE
#include <string.h>

#define HAIRSPRING_MOST_SERIES 16u

/* The text of the last error on standard error; the status is passed on. */
static inline hairspring_status hairspring_complain(hairspring_status status) {
  char text[512];
  hairspring_last_error(text, sizeof text);
  fprintf(stderr, "hairspring: %s: %s\n", hairspring_status_name((int32_t)status), text);
  return status;
}

/* Decimals that show two digits of the interval's half-width. */
static inline int hairspring_decimals(double half_width) {
  int decimals = 0;
  for (double shown = half_width; shown < 9.5 && decimals < 6; shown *= 10.0) decimals += 1;
  return decimals;
}

static inline void hairspring_print_estimate(const hairspring_estimate *estimate, const char *unit) {
  double half_width = (estimate->high - estimate->low) / 2.0;
  int decimals = hairspring_decimals(half_width);
  if (estimate->level > 0.0) printf("  %10.*f %s +- %.*f", decimals, estimate->value, unit, decimals, half_width);
}

static inline void hairspring_print_component(const hairspring_component *component) {
  printf("%-28s %-9s", component->series, component->name);
  if (component->below_resolution) {
    printf("  below resolution: at most %.2g ns", component->bound);
  } else {
    hairspring_print_estimate(&component->ns, "ns");
    hairspring_print_estimate(&component->cycles, "cycles");
  }
  putchar('\n');
}

/* Estimates and comparisons on standard output, doubts on standard error. */
static inline void hairspring_print_assessment(const hairspring_assessment *assessment) {
  static const char *const verdicts[] = {"faster than", "slower than", "no different from", "undecided against"};
  hairspring_component components[3 * HAIRSPRING_MOST_SERIES];
  hairspring_comparison comparisons[HAIRSPRING_MOST_SERIES];
  hairspring_finding findings[64];
  size_t count = 0;
  hairspring_assessment_components(assessment, components, sizeof components[0], 3 * HAIRSPRING_MOST_SERIES, &count);
  for (size_t at = 0; at < count && at < 3 * HAIRSPRING_MOST_SERIES; at += 1) hairspring_print_component(&components[at]);
  hairspring_assessment_comparisons(assessment, comparisons, sizeof comparisons[0], HAIRSPRING_MOST_SERIES, &count);
  for (size_t at = 0; at < count && at < HAIRSPRING_MOST_SERIES; at += 1) {
    printf("%-28s / %s", comparisons[at].a, comparisons[at].b);
    hairspring_print_estimate(&comparisons[at].ratio, "times");
    printf(": %s it\n", verdicts[comparisons[at].verdict]);
  }
  hairspring_assessment_findings(assessment, findings, sizeof findings[0], 64, &count);
  for (size_t at = 0; at < count && at < 64; at += 1) {
    const char *weight = findings[at].severity == HAIRSPRING_SEVERITY_UNTRUSTED ? "NOT TO BE TRUSTED: " : "";
    if (findings[at].severity == HAIRSPRING_SEVERITY_NOTE) continue;
    fprintf(stderr, "%s: %s%s\n  -> %s\n", findings[at].series, weight, findings[at].message, findings[at].remedy);
  }
}

/* The name of the series of an entry with an argument. */
static inline void hairspring_name(char *name, size_t room, const struct hairspring_entry *entry, int64_t argument) {
  const char *of = entry->argument_name != NULL ? entry->argument_name : "argument";
  if (entry->argument_count == 0) {
    snprintf(name, room, "%s", entry->benchmark->name);
  } else {
    snprintf(name, room, "%s/%s:%lld", entry->benchmark->name, of, (long long)argument);
  }
}

/* An entry and its alternatives with one argument: measured in the same rounds, assessed and printed. */
static inline hairspring_status hairspring_run_group(const struct hairspring_entry *entries, size_t count, int64_t argument) {
  hairspring_series series[HAIRSPRING_MOST_SERIES];
  char names[HAIRSPRING_MOST_SERIES][128];
  hairspring_observations *table = NULL;
  hairspring_assessment *assessment = NULL;
  for (size_t at = 0; at < count; at += 1) {
    const struct hairspring_benchmark *benchmark = entries[at].benchmark;
    struct hairspring_entry named = entries[at];
    named.argument_name = entries[0].argument_name, named.argument_count = entries[0].argument_count;
    hairspring_name(names[at], sizeof names[at], &named, argument);
    series[at] = (hairspring_series){sizeof series[at], names[at], benchmark->rows, benchmark->row_count, argument};
    if (entries[at].setup != NULL) entries[at].setup(argument);
  }
  hairspring_status status = hairspring_measure(series, sizeof series[0], count, NULL, &table);
  if (status == HAIRSPRING_STATUS_OK) status = hairspring_assess(table, NULL, &assessment);
  if (status == HAIRSPRING_STATUS_OK) hairspring_print_assessment(assessment);
  if (status != HAIRSPRING_STATUS_OK) hairspring_complain(status);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
  return status;
}

/* Runs all benchmarks by the engine, or those whose name contains the first argument of the program, and prints the
 * results; returns the exit status of the program. */
static inline int hairspring_main(int argc, char **argv, const struct hairspring_entry *entries, size_t count) {
  int failed = 0, ran = 0;
  for (size_t at = 0, group; at < count; at += group) {
    const struct hairspring_entry *first = &entries[at];
    unsigned arguments = first->argument_count < 8 ? first->argument_count : 8;
    for (group = 1; at + group < count && entries[at + group].alternative && group < HAIRSPRING_MOST_SERIES;) group += 1;
    for (unsigned next = 0; next < arguments || next == 0; next += 1) {
      char name[128];
      hairspring_name(name, sizeof name, first, first->arguments[next]);
      if (argc > 1 && strstr(name, argv[1]) == NULL) continue;
      ran += 1;
      failed |= hairspring_run_group(first, group, first->arguments[next]) != HAIRSPRING_STATUS_OK;
    }
  }
  if (ran == 0) fprintf(stderr, "hairspring: no benchmark's name contains `%s`\n", argc > 1 ? argv[1] : "");
  return ran == 0 ? 2 : failed;
}
#endif
#endif

#endif
