/* Hairspring: a precision timing instrument inside your own C program. C11, gcc and clang, one
 * header; Linux, Windows (mingw-w64), macOS (compiled only, never run), and machines without a
 * system.
 *
 *   hairspring_now()                 an ordered read of the finest clock available, inline
 *   hairspring_clock_hz()            its ticks per second, 0 if they are not stated anywhere
 *   HAIRSPRING_USE(value)            the value counts as used: no instruction, no store, no other
 *                                    effect
 *   HAIRSPRING_OPAQUE(variable)      the compiler no longer knows the variable's value: no
 *                                    instruction either
 *   HAIRSPRING_USE_MEMORY()          all memory counts as read and written here
 *   HAIRSPRING_REPEAT_64(code)       the code 64 times, straight-line
 *   struct hairspring_watch          a stopwatch that measures its overhead at the start and
 *                                    subtracts it
 *   HAIRSPRING_BENCHMARK(...)        code to be timed; _INIT: with an init before every body;
 *                                    _COLD: with cold caches
 *   HAIRSPRING_MAIN(...)             the program that runs them, and prints raw observations:
 *                                    program > file && hairspring fit file
 *
 *   hairspring_clock_start()         1 if the clock counts; _name, _why, _span, _doubts: which one
 *                                    it is and how far to trust it
 *
 * arm/hairspring_arm.h, included instead, has the cycle counters of ARM with the same calls.
 * hairspring_system.h adds a raised priority, the measured rate of the clock, and the stopwatch's
 * time in seconds.
 *
 * If HAIRSPRING_ENGINE is defined (pkg-config and CMake do so) and the library is linked, the
 * engine measures and solves in that program, which has a command line (--help).
 *
 * You may define before the #include: HAIRSPRING_FREESTANDING, if there is no C library;
 * HAIRSPRING_READ_CLOCK(), an expression of type uint64_t, to use your own clock;
 * HAIRSPRING_CLOCK_HZ, the ticks per second of such a clock or of the time stamp counter, if you
 * know them; HAIRSPRING_SYSTEM_CLOCK, to use the system's clock: clock_gettime, or
 * QueryPerformanceCounter. */
#ifndef HAIRSPRING_H
#define HAIRSPRING_H

/* The version of this file, as text and as a number that #if can compare: 10000 * major + 100 *
 * minor + patch. */
#define HAIRSPRING_VERSION "0.1.0"
#define HAIRSPRING_VERSION_NUMBER 100

#if !defined(HAIRSPRING_FREESTANDING) && defined(__STRICT_ANSI__) && !defined(_POSIX_C_SOURCE) && \
    !defined(_WIN32) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif

#include <stddef.h>
#include <stdint.h>

/* ---- made from the tables of rows, fences and counters: do not change it here ---- */

/* The finest counter of the processor, and the fence before and after a read of the system's
 * clock. */
#if defined(__x86_64__)
#define HAIRSPRING_COUNTER "tsc"
#define HAIRSPRING_COUNTER_READ(ticks) \
  do { \
    uint64_t hairspring_low, hairspring_high; \
    __asm__ volatile("lfence\n\trdtsc\n\t" \
      "lfence" : "=a"(hairspring_low), "=d"(hairspring_high) : : "memory"); \
    (ticks) = hairspring_high << 32 | hairspring_low; \
  } while (0)
#define HAIRSPRING_CLOCK_FENCE() __asm__ volatile("lfence" : : : "memory")
#elif defined(__aarch64__)
#define HAIRSPRING_COUNTER "cntvct"
#define HAIRSPRING_COUNTER_READ(ticks) __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\t" \
  "isb" : "=r"(ticks) : : "memory")
#define HAIRSPRING_COUNTER_RATE(hz) __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz))
#define HAIRSPRING_CLOCK_FENCE() __asm__ volatile("isb" : : : "memory")
#else
#define HAIRSPRING_CLOCK_FENCE() __asm__ volatile("" : : : "memory")
#endif

/* HAIRSPRING_FENCE: earlier code completes before later code begins. HAIRSPRING_FULL_FENCE: earlier
 * stores are also visible to all CPUs. HAIRSPRING_CHAIN: dependent multiplications, which show what
 * a fence hides of the code after it. */
#if defined(__x86_64__)
#define HAIRSPRING_FLOATING_REGISTER "x"
#define HAIRSPRING_FENCE() __asm__ volatile("lfence" : : : "memory")
#define HAIRSPRING_FULL_FENCE() __asm__ volatile("mfence\n\tlfence" : : : "memory")
#define HAIRSPRING_FLUSH_LINE(address) __asm__ volatile("clflush (%0)" : : "r"(address) : "memory")
#define HAIRSPRING_CHAIN() \
  do { \
    uint64_t hairspring_link; \
    __asm__ volatile("" : "=r"(hairspring_link)); \
    __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t" \
      "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t" \
      "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t" \
      "imul %0, %0\n\timul %0, %0" : "+r"(hairspring_link) : : "cc"); \
  } while (0)
#elif defined(__aarch64__)
#define HAIRSPRING_FLOATING_REGISTER "w"
#define HAIRSPRING_FENCE() __asm__ volatile("dsb ish\n\tisb" : : : "memory")
#define HAIRSPRING_FULL_FENCE() __asm__ volatile("dsb sy\n\tisb" : : : "memory")
#define HAIRSPRING_FLUSH_LINE(address) __asm__ volatile("dc civac, %0" : : "r"(address) : "memory")
#define HAIRSPRING_CHAIN() \
  do { \
    uint64_t hairspring_link; \
    __asm__ volatile("" : "=r"(hairspring_link)); \
    __asm__ volatile("mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0" : "+r"(hairspring_link) : : "cc"); \
  } while (0)
#elif defined(__ARM_ARCH_7A__)
#define HAIRSPRING_FLOATING_REGISTER "w"
#define HAIRSPRING_FENCE() __asm__ volatile("dsb ish\n\tisb" : : : "memory")
#define HAIRSPRING_FULL_FENCE() __asm__ volatile("dsb sy\n\tisb" : : : "memory")
#define HAIRSPRING_CHAIN() \
  do { \
    uint64_t hairspring_link; \
    __asm__ volatile("" : "=r"(hairspring_link)); \
    __asm__ volatile("mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0" : "+r"(hairspring_link) : : "cc"); \
  } while (0)
#elif defined(__riscv_float_abi_double)
#define HAIRSPRING_FLOATING_REGISTER "f"
#define HAIRSPRING_FENCE() __asm__ volatile("fence iorw, iorw" : : : "memory")
#define HAIRSPRING_FULL_FENCE() __asm__ volatile("fence iorw, iorw" : : : "memory")
#define HAIRSPRING_CHAIN() \
  do { \
    uint64_t hairspring_link; \
    __asm__ volatile("" : "=r"(hairspring_link)); \
    __asm__ volatile("mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0\n\tmul %0, %0, %0\n\tmul %0, %0, %0\n\t" \
      "mul %0, %0, %0" : "+r"(hairspring_link) : : "cc"); \
  } while (0)
#else
#define HAIRSPRING_FLOATING_REGISTER "m"
#define HAIRSPRING_FENCE() __asm__ volatile("" : : : "memory")
#define HAIRSPRING_FULL_FENCE() __asm__ volatile("" : : : "memory")
#define HAIRSPRING_CHAIN() \
  do { \
    uint64_t hairspring_link; \
    __asm__ volatile("" : "=r"(hairspring_link)); \
    hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
      hairspring_link *= hairspring_link; __asm__ volatile("" : "+r"(hairspring_link)); \
  } while (0)
#endif

/* How a row orders its bodies and inits. */
#define HAIRSPRING_ORDER_AT_END 0
#define HAIRSPRING_ORDER_IN_PLACE 1
#define HAIRSPRING_ORDER_FENCED 2
#define HAIRSPRING_ORDER_SHADOW 3
#define HAIRSPRING_ORDER_BEHIND_BODY 4
#define HAIRSPRING_ORDER_BEHIND_INIT 5

/* Number of rows that are run however long they take, and most copies of such rows that check an
 * init. */
#define HAIRSPRING_FEWEST_ROWS 4
#define HAIRSPRING_SHORT_CHECK_COPIES 6

/* How often a row runs its block of copies. */
#define HAIRSPRING_RUNS_OF_A_BLOCK 8

/* row(bodies, ...) for every row without an init; row(copies in the block, ...) for every row
 * without an init that runs a block several times; row(bodies, further inits, ...) for every row
 * with an init, and for every row with flushes; row(bodies, inits before each but one, inits before
 * each, ...) for rows that check an init. */
#define HAIRSPRING_FOR_LINE(row, ...) \
  row(1, __VA_ARGS__) row(2, __VA_ARGS__) row(3, __VA_ARGS__) row(4, __VA_ARGS__) \
  row(8, __VA_ARGS__) row(16, __VA_ARGS__) row(32, __VA_ARGS__) row(64, __VA_ARGS__) \
  row(96, __VA_ARGS__) row(128, __VA_ARGS__) row(192, __VA_ARGS__) row(256, __VA_ARGS__)
#define HAIRSPRING_FOR_BLOCKS(row, ...) \
  row(8, __VA_ARGS__) row(12, __VA_ARGS__) row(16, __VA_ARGS__) row(20, __VA_ARGS__) \
  row(24, __VA_ARGS__) row(32, __VA_ARGS__)
#define HAIRSPRING_FOR_PLANE(row, ...) \
  row(1, 0, __VA_ARGS__) row(1, 1, __VA_ARGS__) row(2, 0, __VA_ARGS__) \
  row(2, 2, __VA_ARGS__) row(4, 0, __VA_ARGS__) row(4, 4, __VA_ARGS__) \
  row(8, 0, __VA_ARGS__) row(8, 8, __VA_ARGS__) row(16, 0, __VA_ARGS__) \
  row(16, 16, __VA_ARGS__) row(32, 0, __VA_ARGS__) row(32, 16, __VA_ARGS__)
#define HAIRSPRING_FOR_CHECKS(row, ...) \
  row(1, 0, 1, __VA_ARGS__) row(1, 1, 2, __VA_ARGS__) row(2, 0, 1, __VA_ARGS__) \
  row(2, 1, 2, __VA_ARGS__) row(4, 0, 1, __VA_ARGS__) row(4, 1, 2, __VA_ARGS__) \
  row(8, 0, 1, __VA_ARGS__) row(8, 1, 2, __VA_ARGS__) row(16, 0, 1, __VA_ARGS__)
#define HAIRSPRING_FOR_COLD(row, ...) \
  row(1, 0, __VA_ARGS__) row(1, 1, __VA_ARGS__) row(2, 0, __VA_ARGS__) row(2, 1, __VA_ARGS__) \
  row(3, 0, __VA_ARGS__) row(3, 1, __VA_ARGS__) row(4, 0, __VA_ARGS__) row(4, 1, __VA_ARGS__) \
  row(8, 0, __VA_ARGS__) row(8, 1, __VA_ARGS__)

/* ---- end of what is made from the tables ---- */

#if defined(__arm__) && !defined(__ARM_FP)
/* Floating-point numbers are in ordinary registers, or in memory. */
#undef HAIRSPRING_FLOATING_REGISTER
#define HAIRSPRING_FLOATING_REGISTER "m"
#endif

/* ---- the system's clock ---------------------------------------------------------------------- */

/* hairspring_system_now and hairspring_system_hz: its ticks, and its ticks per second. The system
 * decides how far these reads are ordered. */
#if defined(_WIN32) && !defined(HAIRSPRING_FREESTANDING)

/* The same declarations as in <windows.h>, which may come before or after this header and is not
 * needed by it. */
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
/* on Apple's systems the other one steps by microseconds */
#if defined(__APPLE__) && defined(CLOCK_MONOTONIC_RAW)
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

/* ---- the clock ------------------------------------------------------------------------------- */

/* Ticks since some fixed point in time. All earlier code is done before the read, all later code
 * begins after it. */
#if defined(HAIRSPRING_READ_CLOCK)

#ifndef HAIRSPRING_CLOCK
#define HAIRSPRING_CLOCK "the program's own"
#endif
static inline uint64_t hairspring_now(void) { return HAIRSPRING_READ_CLOCK(); }

#elif defined(HAIRSPRING_COUNTER) && !defined(HAIRSPRING_SYSTEM_CLOCK)

#define HAIRSPRING_CLOCK HAIRSPRING_COUNTER
static inline uint64_t hairspring_now(void) {
  uint64_t ticks;
  HAIRSPRING_COUNTER_READ(ticks);
  return ticks;
}
#ifdef HAIRSPRING_COUNTER_RATE
static inline uint64_t hairspring_counter_hz(void) {
  uint64_t hz;
  HAIRSPRING_COUNTER_RATE(hz);
  return hz;
}
#ifndef HAIRSPRING_CLOCK_HZ
#define HAIRSPRING_CLOCK_HZ hairspring_counter_hz()
#endif
#endif

#elif defined(HAIRSPRING_FREESTANDING)
#error "hairspring.h knows no clock of this processor: define HAIRSPRING_READ_CLOCK() before it"
#elif defined(__AVR__)
#error "hairspring.h knows no clock of an AVR: include hairspring_clock.h instead (-Iprobe/chip), with F_CPU as the clock's rate"
#elif !defined(HAIRSPRING_SYSTEM_CLOCK_NAME)
#error "hairspring.h needs clock_gettime: include it first, or define _POSIX_C_SOURCE as 199309L before any header"
#else

#define HAIRSPRING_CLOCK HAIRSPRING_SYSTEM_CLOCK_NAME
#undef HAIRSPRING_CLOCK_HZ
#define HAIRSPRING_CLOCK_HZ hairspring_system_hz()
static inline uint64_t hairspring_now(void) {
  HAIRSPRING_CLOCK_FENCE();
  uint64_t ticks = hairspring_system_now();
  HAIRSPRING_CLOCK_FENCE();
  return ticks;
}

#endif

/* Ticks per second of that clock, if the system, the processor or the program states them; 0 if
 * they must be measured. */
static inline uint64_t hairspring_clock_hz(void) {
#ifdef HAIRSPRING_CLOCK_HZ
  return (uint64_t)(HAIRSPRING_CLOCK_HZ);
#else
  return 0;
#endif
}

/* The same calls on every machine; a header that chooses its clock at run time
 * (arm/hairspring_arm.h) brings its own. */
#ifdef HAIRSPRING_CLOCK_CALLS
#define HAIRSPRING_DOUBT_COLUMN ",flags"
#else
#define HAIRSPRING_DOUBT_COLUMN ""
#ifndef HAIRSPRING_READ_CLOCK
/* 1 if the clock counts. */
static inline int hairspring_clock_start(void) {
  uint64_t first = hairspring_now();
  for (unsigned reads = 0; reads < 1000000; reads += 1) {
    if (hairspring_now() != first) return 1;
  }
  return 0;
}
#endif
/* The clock's name, why a better one was not taken, how far two reads may be apart, and what makes
 * ticks since the last call doubtful. */
static inline const char *hairspring_clock_name(void) { return HAIRSPRING_CLOCK; }
static inline const char *hairspring_clock_why(void) { return ""; }
static inline uint64_t hairspring_clock_span(void) { return UINT64_MAX; }
static inline unsigned hairspring_clock_doubts(void) { return 0; }
#endif

/* ---- barriers -------------------------------------------------------------------------------- */

#ifdef __cplusplus
/* Never called: the size of the result shows the type. */
extern "C++" {
template <typename Type> char (&hairspring_floating(const Type &))[1];
char (&hairspring_floating(const float &))[2];
char (&hairspring_floating(const double &))[2];
}
#define HAIRSPRING_IS_FLOATING(value) (sizeof(hairspring_floating(value)) == 2)
#else
#define HAIRSPRING_IS_FLOATING(value) _Generic((value), float: 1, double: 1, default: 0)
#endif

/* The value, an integer, a pointer, a float or a double, counts as used. It stays in the register
 * where it is. */
#define HAIRSPRING_USE(value)                                                   \
  do {                                                                          \
    __typeof__(value) hairspring_used = (value);                                \
    if (HAIRSPRING_IS_FLOATING(hairspring_used))                                \
      __asm__ volatile("" : : HAIRSPRING_FLOATING_REGISTER(hairspring_used));   \
    else                                                                        \
      __asm__ volatile("" : : "r"(hairspring_used));                            \
  } while (0)

/* The variable, of one of the same types, has a value that the compiler does not know, in the
 * register where it is. */
#define HAIRSPRING_OPAQUE(variable)                                             \
  do {                                                                          \
    if (HAIRSPRING_IS_FLOATING(variable))                                       \
      __asm__ volatile("" : "+" HAIRSPRING_FLOATING_REGISTER(variable));        \
    else                                                                        \
      __asm__ volatile("" : "+r"(variable));                                    \
  } while (0)

/* All memory that a pointer could lead to counts as read and written. Values in registers stay
 * there. An object whose address has not escaped is not included: use HAIRSPRING_USE(&object)
 * first. */
#define HAIRSPRING_USE_MEMORY() __asm__ volatile("" : : : "memory")

/* ---- straight-line repetition ---------------------------------------------------------------- */

#define HAIRSPRING_REPEAT_0(...)
#define HAIRSPRING_REPEAT_1(...) { __VA_ARGS__; }
#define HAIRSPRING_REPEAT_2(...) HAIRSPRING_REPEAT_1(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_3(...) HAIRSPRING_REPEAT_2(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_4(...) HAIRSPRING_REPEAT_2(__VA_ARGS__) HAIRSPRING_REPEAT_2(__VA_ARGS__)
#define HAIRSPRING_REPEAT_6(...) HAIRSPRING_REPEAT_4(__VA_ARGS__) HAIRSPRING_REPEAT_2(__VA_ARGS__)
#define HAIRSPRING_REPEAT_8(...) HAIRSPRING_REPEAT_4(__VA_ARGS__) HAIRSPRING_REPEAT_4(__VA_ARGS__)
#define HAIRSPRING_REPEAT_12(...) HAIRSPRING_REPEAT_8(__VA_ARGS__) HAIRSPRING_REPEAT_4(__VA_ARGS__)
#define HAIRSPRING_REPEAT_16(...) HAIRSPRING_REPEAT_8(__VA_ARGS__) HAIRSPRING_REPEAT_8(__VA_ARGS__)
#define HAIRSPRING_REPEAT_20(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_4(__VA_ARGS__)
#define HAIRSPRING_REPEAT_24(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_8(__VA_ARGS__)
#define HAIRSPRING_REPEAT_32(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) \
    HAIRSPRING_REPEAT_16(__VA_ARGS__)
#define HAIRSPRING_REPEAT_48(...) HAIRSPRING_REPEAT_32(__VA_ARGS__) \
    HAIRSPRING_REPEAT_16(__VA_ARGS__)
#define HAIRSPRING_REPEAT_64(...) HAIRSPRING_REPEAT_32(__VA_ARGS__) \
    HAIRSPRING_REPEAT_32(__VA_ARGS__)
#define HAIRSPRING_REPEAT_96(...) HAIRSPRING_REPEAT_64(__VA_ARGS__) \
    HAIRSPRING_REPEAT_32(__VA_ARGS__)
#define HAIRSPRING_REPEAT_128(...) HAIRSPRING_REPEAT_64(__VA_ARGS__) \
    HAIRSPRING_REPEAT_64(__VA_ARGS__)
#define HAIRSPRING_REPEAT_192(...) HAIRSPRING_REPEAT_128(__VA_ARGS__) \
    HAIRSPRING_REPEAT_64(__VA_ARGS__)
#define HAIRSPRING_REPEAT_256(...) HAIRSPRING_REPEAT_128(__VA_ARGS__) \
    HAIRSPRING_REPEAT_128(__VA_ARGS__)

/* ---- the stopwatch --------------------------------------------------------------------------- */

/* One span of time, measured once; its overhead is the reading of an empty span. Use a benchmark
 * for code that is shorter than the overhead's spread. */
struct hairspring_watch {
  uint64_t started;
  double overhead_ticks;   /* mean of the overhead */
  double overhead_variance; /* of a single span, in ticks squared */
};

static inline void hairspring_watch_start(struct hairspring_watch *watch) {
  watch->started = hairspring_now();
}

/* Ticks since the start, raw, including the overhead. */
static inline uint64_t hairspring_watch_raw(const struct hairspring_watch *watch) {
  return hairspring_now() - watch->started;
}

/* Ticks since the start, minus the overhead. Never clamped: a time shorter than the overhead's
 * spread may be below 0. */
static inline double hairspring_watch_ticks(const struct hairspring_watch *watch) {
  return (double)(int64_t)hairspring_watch_raw(watch) - watch->overhead_ticks;
}

#define HAIRSPRING_WATCH_RUNS 2000u

/* The overhead from empty runs; runs longer than three times the shortest were interrupted. */
static inline struct hairspring_watch hairspring_watch_new(void) {
  struct hairspring_watch watch = {0, 0.0, 0.0};
  uint64_t shortest = UINT64_MAX;
  double sum = 0.0, squares = 0.0, used_runs = 0.0;
  for (unsigned run = 0; run < 2 * HAIRSPRING_WATCH_RUNS; run += 1) {
    hairspring_watch_start(&watch);
    uint64_t ticks = hairspring_watch_raw(&watch);
    if (run < HAIRSPRING_WATCH_RUNS) {
      shortest = ticks < shortest ? ticks : shortest;
    } else if (ticks <= 3 * shortest + 3) {
      /* Relative to the shortest, so that large numbers do not cancel. */
      double above = (double)(int64_t)(ticks - shortest);
      sum += above, squares += above * above, used_runs += 1.0;
    }
  }
  double mean = used_runs > 0.0 ? sum / used_runs : 0.0;
  watch.overhead_ticks = (double)shortest + mean;
  watch.overhead_variance =
      used_runs > 1.0 ? (squares - used_runs * mean * mean) / (used_runs - 1.0) : 0.0;
  return watch;
}

/* ---- benchmarks ------------------------------------------------------------------------------ */

/* Reads a clock; a row gets the one to use. */
typedef uint64_t (*hairspring_read)(void);

#ifdef HAIRSPRING_ENGINE
#include "hairspring_engine.h"
#else
/* Most arguments of a benchmark. */
#define HAIRSPRING_MOST_ARGUMENTS 16u

/* A row returns this instead of ticks if its code failed. */
#define HAIRSPRING_FAILED UINT64_MAX

/* Added to a row's order if it was compiled without optimisation. */
#define HAIRSPRING_UNOPTIMISED 256u

/* Added to the order of a row that runs a block of its copies HAIRSPRING_RUNS_OF_A_BLOCK times; its
 * bodies are those of all runs. */
#define HAIRSPRING_IN_BLOCKS 512u

/* Code at one number of copies: reads the clock, runs `inits` inits and `bodies` bodies, reads the
 * clock again. */
struct hairspring_row {
  uint64_t (*run)(hairspring_read now, int64_t argument);
  uint32_t bodies;
  uint32_t inits;
  /* HAIRSPRING_ORDER_AT_END: the further inits at the end; the others are checks: _IN_PLACE: before
   * every body; _FENCED: with fences; _SHADOW: with fences, and a chain instead of the body; plus
   * HAIRSPRING_UNOPTIMISED, and HAIRSPRING_IN_BLOCKS */
  uint32_t order;
};

/* Code to be timed, made by HAIRSPRING_BENCHMARK. */
struct hairspring_benchmark {
  const char *name;
  const struct hairspring_row *rows;
  size_t row_count;
  const char *second; /* name of the second component; NULL means `init` */
};

/* A benchmark to run. All fields but the benchmark may be 0. */
struct hairspring_entry {
  const struct hairspring_benchmark *benchmark;
  void (*setup)(int64_t argument); /* runs once before the first row */
  const char *argument_name;       /* results are named `benchmark/argument_name:value` */
  int64_t arguments[HAIRSPRING_MOST_ARGUMENTS];
  uint32_t argument_count;
  /* 1: runs in the same rounds as the entry before, and is compared with it */
  uint32_t alternative;
};
#endif

/* What is added to the order of rows compiled here. Other compilers do not tell. */
#if defined(__GNUC__) && !defined(__OPTIMIZE__)
#define HAIRSPRING_COMPILED HAIRSPRING_UNOPTIMISED
#else
#define HAIRSPRING_COMPILED 0u
#endif

/* A row's order without what was added to it. */
static inline uint32_t hairspring_order(const struct hairspring_row *row) {
  return row->order & ~(uint32_t)(HAIRSPRING_UNOPTIMISED | HAIRSPRING_IN_BLOCKS);
}

/* Rows of blocks are for processors that run code faster once they have run it a hundred times. */
#if !defined(__x86_64__) && !defined(__aarch64__)
#undef HAIRSPRING_FOR_BLOCKS
#define HAIRSPRING_FOR_BLOCKS(row, ...)
#endif

#define HAIRSPRING_UNWRAP(...) __VA_ARGS__

#define HAIRSPRING_ROW(name, row, declarations, ...)                                    \
  __attribute__((noinline, aligned(64))) static uint64_t hairspring_row_##name##_##row( \
      hairspring_read hairspring_clock_of_row, int64_t argument) {                      \
    HAIRSPRING_UNWRAP declarations;                                                     \
    (void)argument;                                                                     \
    uint64_t hairspring_begin_of_row = hairspring_clock_of_row();                       \
    __VA_ARGS__                                                                         \
    return hairspring_clock_of_row() - hairspring_begin_of_row;                         \
  }
#define HAIRSPRING_LINE(n, name, declarations, ...) \
    HAIRSPRING_ROW(name, n, declarations, HAIRSPRING_REPEAT_##n(__VA_ARGS__))
#define HAIRSPRING_LINE_ENTRY(n, name) {hairspring_row_##name##_##n, n, 0, \
    HAIRSPRING_ORDER_AT_END + HAIRSPRING_COMPILED},
/* The compiler must not lay the runs of a block out one after the other. */
#define HAIRSPRING_BLOCK(n, name, declarations, ...)                                              \
  HAIRSPRING_ROW(name, n##_in_blocks, declarations,                                               \
                 for (uint32_t hairspring_runs = HAIRSPRING_RUNS_OF_A_BLOCK; hairspring_runs > 0; \
                     hairspring_runs -= 1) {                                                      \
                   HAIRSPRING_OPAQUE(hairspring_runs);                                            \
                   HAIRSPRING_REPEAT_##n(__VA_ARGS__)                                             \
                 })
#define HAIRSPRING_BLOCK_ENTRY(n, name) \
  {hairspring_row_##name##_##n##_in_blocks, n * HAIRSPRING_RUNS_OF_A_BLOCK, 0, \
      HAIRSPRING_ORDER_AT_END + HAIRSPRING_IN_BLOCKS + HAIRSPRING_COMPILED},
#define HAIRSPRING_PLANE(n, further, name, declarations, init, ...)         \
  HAIRSPRING_ROW(name, n##_##further, declarations,                         \
                 HAIRSPRING_REPEAT_##n(HAIRSPRING_UNWRAP init; __VA_ARGS__) \
                     HAIRSPRING_REPEAT_##further(HAIRSPRING_UNWRAP init))
#define HAIRSPRING_PLANE_ENTRY(n, further, name) \
  {hairspring_row_##name##_##n##_##further, n, n + further, \
      HAIRSPRING_ORDER_AT_END + HAIRSPRING_COMPILED},

/* The program contains a body some 900 times: one of more than about 20 operations takes long to
 * compile. Put it into a function that the body calls; the time then includes the call. */

/* HAIRSPRING_BENCHMARK(name, (declarations), body): declares `name`. The declarations are made
 * before the clock is read, once for each row; they and the body may use `argument`. */
#define HAIRSPRING_BENCHMARK(name, declarations, ...)                                        \
  HAIRSPRING_FOR_LINE(HAIRSPRING_LINE, name, declarations, __VA_ARGS__)                      \
  HAIRSPRING_FOR_BLOCKS(HAIRSPRING_BLOCK, name, declarations, __VA_ARGS__)                   \
  static const struct hairspring_row hairspring_rows_##name[] =                              \
      {HAIRSPRING_FOR_LINE(HAIRSPRING_LINE_ENTRY, name)                                      \
                                                                 HAIRSPRING_FOR_BLOCKS(      \
                                                                     HAIRSPRING_BLOCK_ENTRY, \
                                                                     name)};                 \
  HAIRSPRING_DEFINE(name, NULL)

/* HAIRSPRING_BENCHMARK_INIT(name, (declarations), (init), body): the init runs before every body;
 * rows with more inits than bodies separate the two. Further rows, in another order and with
 * fences, check that the two add up. */
#define HAIRSPRING_BENCHMARK_INIT(name, declarations, init, ...)                               \
  HAIRSPRING_FOR_PLANE(HAIRSPRING_PLANE, name, declarations, init, __VA_ARGS__)                \
  HAIRSPRING_FOR_CHECKS(HAIRSPRING_CHECK, name, in_place, declarations, init, __VA_ARGS__)     \
  HAIRSPRING_FOR_CHECKS(HAIRSPRING_CHECK, name, fenced, declarations,                          \
      (HAIRSPRING_FENCE(); HAIRSPRING_UNWRAP init; HAIRSPRING_FENCE()), __VA_ARGS__)           \
  HAIRSPRING_FOR_CHECKS(HAIRSPRING_CHECK, name, shadow,                                        \
      (HAIRSPRING_UNWRAP declarations; HAIRSPRING_NEVER(HAIRSPRING_UNWRAP init; __VA_ARGS__)), \
      (HAIRSPRING_FENCE(); HAIRSPRING_FENCE()), HAIRSPRING_CHAIN())                            \
  static const struct hairspring_row hairspring_rows_##name[] = {                              \
      HAIRSPRING_FOR_PLANE(HAIRSPRING_PLANE_ENTRY, name)                                       \
      HAIRSPRING_FOR_CHECKS(HAIRSPRING_CHECK_ENTRY, name, in_place, HAIRSPRING_ORDER_IN_PLACE) \
      HAIRSPRING_FOR_CHECKS(HAIRSPRING_CHECK_ENTRY, name, fenced, HAIRSPRING_ORDER_FENCED)     \
      HAIRSPRING_FOR_CHECKS(HAIRSPRING_CHECK_ENTRY, name, shadow, HAIRSPRING_ORDER_SHADOW)     \
  };                                                                                           \
  HAIRSPRING_DEFINE(name, NULL)

/* A row that checks an init: `each` inits before every body. */
#define HAIRSPRING_CHECK(n, but_one, each, name, order, declarations, init, ...)           \
  HAIRSPRING_ROW(name, n##_##each##_##order, declarations,                                 \
                 HAIRSPRING_REPEAT_##n(HAIRSPRING_REPEAT_##but_one(HAIRSPRING_UNWRAP init) \
                     HAIRSPRING_UNWRAP init; __VA_ARGS__))
#define HAIRSPRING_CHECK_ENTRY(n, but_one, each, name, order, number) \
  {hairspring_row_##name##_##n##_##each##_##order, n, n * each, number + HAIRSPRING_COMPILED},

/* HAIRSPRING_BENCHMARK_COLD(name, (declarations), (pointer, bytes), body): these bytes are flushed
 * from all caches before every body; the time of the flush is a separate component. Not where only
 * the system may flush: HAIRSPRING_FLUSH_LINE is not defined there. */
#ifdef HAIRSPRING_FLUSH_LINE
#define HAIRSPRING_BENCHMARK_COLD(name, declarations, data, ...)              \
  HAIRSPRING_FOR_COLD(HAIRSPRING_COLD, name, declarations, data, __VA_ARGS__) \
  static const struct hairspring_row hairspring_rows_##name[] = {             \
      HAIRSPRING_FOR_COLD(HAIRSPRING_PLANE_ENTRY, name)                       \
          HAIRSPRING_FOR_COLD(HAIRSPRING_COLD_SHADOW_ENTRY, name)};           \
  HAIRSPRING_DEFINE(name, "flush")
#else
#define HAIRSPRING_BENCHMARK_COLD(name, declarations, data, ...) \
  _Static_assert(0, \
      #name ": programs cannot flush cache lines on this processor; read a larger array in an " \
      "init (HAIRSPRING_BENCHMARK_INIT)"); \
  static const struct hairspring_benchmark name = {#name, NULL, 0, NULL}
#endif

#define HAIRSPRING_COLD(n, further, name, declarations, data, ...) \
  HAIRSPRING_COLD_ROW(name, n##_##further, declarations, data, \
      HAIRSPRING_REPEAT_##n(hairspring_flush data; __VA_ARGS__) \
      HAIRSPRING_REPEAT_##further(hairspring_flush data)) \
  HAIRSPRING_COLD_ROW(name, n##_##further##_shadow, \
      (HAIRSPRING_UNWRAP declarations; HAIRSPRING_NEVER(__VA_ARGS__)), data, \
      HAIRSPRING_REPEAT_##n(hairspring_flush data; HAIRSPRING_CHAIN()) \
      HAIRSPRING_REPEAT_##further(hairspring_flush data))
#define HAIRSPRING_COLD_SHADOW_ENTRY(n, further, name) \
  {hairspring_row_##name##_##n##_##further##_shadow, n, n + further, \
      HAIRSPRING_ORDER_SHADOW + HAIRSPRING_COMPILED},
/* Code that never runs, so that its variables count as used. */
#define HAIRSPRING_NEVER(...) \
  if (0) {                    \
    __VA_ARGS__;              \
  }
#define HAIRSPRING_COLD_ROW(name, row, declarations, data, ...) \
  HAIRSPRING_ROW(name, row, (HAIRSPRING_UNWRAP declarations; hairspring_touch data), __VA_ARGS__)

#define HAIRSPRING_DEFINE(name, second) \
  static const struct hairspring_benchmark name = \
      {#name, hairspring_rows_##name, \
      sizeof hairspring_rows_##name / sizeof(struct hairspring_row), second}

/* 64 bytes is the smallest cache line of the supported machines; flushing a line twice does no
 * harm. */
#define HAIRSPRING_CACHE_LINE 64u

#ifdef HAIRSPRING_FLUSH_LINE
/* Writes these bytes back and evicts them from all caches, with fences before and after. */
static inline void hairspring_flush(const void *start, size_t bytes) {
  uintptr_t address = (uintptr_t)start & ~(uintptr_t)(HAIRSPRING_CACHE_LINE - 1),
      end = (uintptr_t)start + bytes;
  HAIRSPRING_FULL_FENCE();
  for (; address < end; address += HAIRSPRING_CACHE_LINE) HAIRSPRING_FLUSH_LINE(address);
  HAIRSPRING_FULL_FENCE();
}

/* Reads one byte of each line, so that the first flush finds the same state as the later ones. */
static inline void hairspring_touch(const void *start, size_t bytes) {
  for (size_t at = 0; at < bytes; at += HAIRSPRING_CACHE_LINE) {
    unsigned char byte = ((const volatile unsigned char *)start)[at];
    HAIRSPRING_USE(byte);
  }
}
#endif

/* How the raw observations are taken without the engine. */
struct hairspring_rounds {
  unsigned rounds;           /* how often each row is run */
  uint64_t longest_ticks;    /* longer rows are left out, except the shortest four */
  void (*put)(char letter);  /* takes the text of the table */
  uint32_t random;           /* any number but 0 */
  uint32_t turns;            /* longest wait before a reading; hairspring_observe_all sets it */
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

/* Waits of up to this many turns cover three steps of the clock, so that readings begin anywhere
 * between two steps. */
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

/* Text in quotes: quotes are doubled, and control characters become blanks. */
static inline void hairspring_put_quoted(const struct hairspring_rounds *rounds, const char *text) {
  for (; *text != 0; text += 1) {
    if (*text == '"') rounds->put('"');
    char letter = *text;
    if ((unsigned char)letter < ' ') letter = ' ';
    rounds->put(letter);
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

#define HAIRSPRING_MOST_ROWS 32u
/* A body that takes more ticks than this is not run in blocks: what a processor learns of it is a
 * small part of its time. */
#define HAIRSPRING_TICKS_OF_SHORT_BODIES 150u

/* How often an entry is run: once for each argument, or once without arguments. */
static inline unsigned hairspring_argument_count(const struct hairspring_entry *entry) {
  unsigned count = entry->argument_count < HAIRSPRING_MOST_ARGUMENTS
      ? (unsigned)entry->argument_count : HAIRSPRING_MOST_ARGUMENTS;
  return count > 0 ? count : 1;
}

static inline uint64_t hairspring_read_now(void) { return hairspring_now(); }

/* Whether a row is run without the engine: rows with fences need a chain of known length in the
 * same rounds. */
static inline unsigned hairspring_is_run(const struct hairspring_row *row) {
  return hairspring_order(row) <= HAIRSPRING_ORDER_IN_PLACE;
}

static inline int hairspring_runs_blocks(const struct hairspring_row *row) {
  return (row->order & HAIRSPRING_IN_BLOCKS) != 0;
}

/* Times that a row is run before it is measured: one that runs blocks is measured when the
 * processor has learnt its code. */
static inline unsigned hairspring_runs_before(const struct hairspring_row *row) {
  return hairspring_runs_blocks(row) ? 40 : 1;
}

/* Chooses the rows that run blocks; returns their number. */
static inline unsigned hairspring_choose_blocks(const struct hairspring_benchmark *benchmark,
    const struct hairspring_row *chosen_rows[HAIRSPRING_MOST_ROWS]) {
  unsigned count = 0;
  for (size_t at = 0; at < benchmark->row_count && count < HAIRSPRING_MOST_ROWS; at += 1) {
    if (hairspring_runs_blocks(&benchmark->rows[at])) chosen_rows[count++] = &benchmark->rows[at];
  }
  return count;
}

/* Chooses the rows that are short enough by running each of them. Rows that check an init have no
 * more copies than the others. If a body takes few ticks and there are rows that run blocks of it,
 * these are chosen instead. */
static inline unsigned hairspring_choose(const struct hairspring_rounds *rounds,
    const struct hairspring_entry *entry, int64_t argument,
    const struct hairspring_row *chosen_rows[HAIRSPRING_MOST_ROWS]) {
  unsigned count = 0;
  uint32_t most_copies = HAIRSPRING_SHORT_CHECK_COPIES;
  int are_short = 0;
  for (size_t at = 0; at < entry->benchmark->row_count && count < HAIRSPRING_MOST_ROWS; at += 1) {
    const struct hairspring_row *row = &entry->benchmark->rows[at];
    if (!hairspring_is_run(row) || hairspring_runs_blocks(row)) continue;
    if (hairspring_order(row) == HAIRSPRING_ORDER_IN_PLACE) {
      if (row->bodies + row->inits <= most_copies) chosen_rows[count++] = row;
      continue;
    }
    row->run(hairspring_read_now, argument);
    uint64_t ticks = row->run(hairspring_read_now, argument);
    if (ticks > rounds->longest_ticks && count >= HAIRSPRING_FEWEST_ROWS) continue;
    are_short = ticks < (uint64_t)HAIRSPRING_TICKS_OF_SHORT_BODIES * row->bodies;
    most_copies = row->bodies + row->inits > most_copies ? row->bodies + row->inits : most_copies;
    chosen_rows[count++] = row;
  }
  const struct hairspring_row *blocks[HAIRSPRING_MOST_ROWS];
  unsigned block_count = are_short ? hairspring_choose_blocks(entry->benchmark, blocks) : 0;
  if (block_count >= HAIRSPRING_FEWEST_ROWS) {
    for (count = 0; count < block_count; count += 1) chosen_rows[count] = blocks[count];
  }
  return count;
}

/* The name of a series; for a series that checks another one its order follows. */
static inline void hairspring_put_name(const struct hairspring_rounds *rounds,
    const struct hairspring_entry *entry, int64_t argument, uint32_t order) {
  hairspring_put_quoted(rounds, entry->benchmark->name);
  if (entry->argument_count > 0) {
    rounds->put('/');
    hairspring_put_quoted(rounds, entry->argument_name != NULL ? entry->argument_name : "argument");
    hairspring_put_text(rounds, argument < 0 ? ":-" : ":");
    hairspring_put_number(rounds, argument < 0 ? 0 - (uint64_t)argument : (uint64_t)argument);
  }
  if (order == HAIRSPRING_ORDER_IN_PLACE) hairspring_put_text(rounds, " in place");
}

static inline void hairspring_put_reading(const struct hairspring_rounds *rounds,
    const struct hairspring_entry *entry, int64_t argument, const struct hairspring_row *row,
    unsigned round, uint64_t ticks) {
  rounds->put('"');
  hairspring_put_name(rounds, entry, argument, hairspring_order(row));
  hairspring_put_text(rounds, "\",");
  const uint64_t numbers[4] = {row->bodies, row->inits, round, ticks};
  for (unsigned at = 0; at < 4; at += 1) {
    hairspring_put_number(rounds, numbers[at]);
    if (at < 3) rounds->put(',');
  }
#ifdef HAIRSPRING_CLOCK_CALLS
  hairspring_put_text(rounds, hairspring_clock_doubts() != 0 ? ",x" : ",");
#endif
  rounds->put('\n');
}

/* Declares the series that check others. */
static inline void hairspring_put_variants(const struct hairspring_rounds *rounds,
    const struct hairspring_entry *entry) {
  const struct hairspring_benchmark *benchmark = entry->benchmark;
  unsigned arguments = hairspring_argument_count(entry), checked = 0;
  for (size_t at = 0; at < benchmark->row_count; at += 1)
    checked |= hairspring_order(&benchmark->rows[at]) == HAIRSPRING_ORDER_IN_PLACE;
  for (unsigned next = 0; checked && next < arguments; next += 1) {
    hairspring_put_text(rounds, "# variant: ");
    hairspring_put_name(rounds, entry, entry->arguments[next], HAIRSPRING_ORDER_IN_PLACE);
    hairspring_put_text(rounds, " = in_place of ");
    hairspring_put_name(rounds, entry, entry->arguments[next], HAIRSPRING_ORDER_AT_END);
    rounds->put('\n');
  }
}

/* Names the series that were compiled without optimisation. */
static inline void hairspring_put_unoptimised(const struct hairspring_rounds *rounds,
    const struct hairspring_entry *entry) {
  const struct hairspring_benchmark *benchmark = entry->benchmark;
  unsigned arguments = hairspring_argument_count(entry), unoptimised = 0;
  for (size_t at = 0; at < benchmark->row_count; at += 1)
    unoptimised |= (benchmark->rows[at].order & HAIRSPRING_UNOPTIMISED) != 0;
  for (unsigned next = 0; unoptimised && next < arguments; next += 1) {
    hairspring_put_text(rounds, "# unoptimised: ");
    hairspring_put_name(rounds, entry, entry->arguments[next], HAIRSPRING_ORDER_AT_END);
    rounds->put('\n');
  }
}

/* One benchmark with one argument: rounds over its rows, each in a new random order, after warm-up
 * runs of each row. */
static inline void hairspring_observe(struct hairspring_rounds *rounds,
    const struct hairspring_entry *entry, int64_t argument) {
  const struct hairspring_row *rows[HAIRSPRING_MOST_ROWS];
  if (entry->setup != NULL) entry->setup(argument);
  unsigned count = hairspring_choose(rounds, entry, argument, rows);
  for (unsigned round = 0; round < rounds->rounds; round += 1) {
    for (unsigned rows_left = count; rows_left > 0; rows_left -= 1) {
      unsigned at = (unsigned)(hairspring_random(rounds) % rows_left);
      const struct hairspring_row *row = rows[at];
      rows[at] = rows[rows_left - 1], rows[rows_left - 1] = row;
      for (unsigned before = hairspring_runs_before(row); before > 0; before -= 1)
        row->run(hairspring_read_now, argument);
      hairspring_wait(hairspring_random(rounds) % (rounds->turns + 1));
      hairspring_put_reading(rounds, entry, argument, row, round,
          row->run(hairspring_read_now, argument));
    }
  }
}

/* The raw observations of all benchmarks as a table that `hairspring fit` reads. */
static inline void hairspring_observe_all(struct hairspring_rounds *rounds,
    const struct hairspring_entry *entries, size_t count) {
  hairspring_put_text(rounds, "# hairspring observations: 1\n# clock: ");
  hairspring_put_text(rounds, HAIRSPRING_CLOCK);
  rounds->put('\n');
  if (hairspring_clock_why()[0] != 0) {
    hairspring_put_text(rounds, "# clock_why: ");
    hairspring_put_text(rounds, hairspring_clock_why());
    rounds->put('\n');
  }
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
  for (size_t at = 0; at < count; at += 1) hairspring_put_variants(rounds, &entries[at]);
  for (size_t at = 0; at < count; at += 1) hairspring_put_unoptimised(rounds, &entries[at]);
  hairspring_put_text(rounds,
      "# serves: init\nseries,body,init,round,ticks" HAIRSPRING_DOUBT_COLUMN "\n");
  for (size_t at = 0; at < count; at += 1) {
    unsigned arguments = hairspring_argument_count(&entries[at]);
    for (unsigned next = 0; next < arguments; next += 1)
      hairspring_observe(rounds, &entries[at], entries[at].arguments[next]);
  }
}

#ifndef HAIRSPRING_FREESTANDING
#include <stdio.h>

static inline void hairspring_put_standard(char letter) { putchar(letter); }

/* Prints the raw observations of all benchmarks on standard output; returns the exit status of the
 * program. */
static inline int hairspring_print(const struct hairspring_entry *entries, size_t count) {
  struct hairspring_rounds rounds = {400, 200000, hairspring_put_standard, 2463534242u, 0};
  hairspring_put_text(&rounds,
      "# how: `hairspring run PROGRAM` shows the times of these observations, and so does PROGRAM "
      "| hairspring fit -\n");
  hairspring_observe_all(&rounds, entries, count);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

/* The program of these benchmarks; returns its exit status. With the engine it has a command line
 * (--help), measures and prints results. Without the engine it prints the raw observations of all,
 * for `hairspring fit`. */
static inline int hairspring_main(int argc, char **argv, const struct hairspring_entry *entries,
    size_t count) {
#ifdef HAIRSPRING_ENGINE
  return hairspring_run_program(argc, (const char *const *)argv, entries, sizeof entries[0], count);
#else
  (void)argc, (void)argv;
  return hairspring_print(entries, count);
#endif
}

/* HAIRSPRING_MAIN({.benchmark = &one}, {.benchmark = &other}): the main function of a program of
 * these entries. */
#define HAIRSPRING_MAIN(...)                                                   \
  int main(int argc, char **argv) {                                            \
    static const struct hairspring_entry hairspring_entries[] = {__VA_ARGS__}; \
    return hairspring_main(argc, argv, hairspring_entries,                     \
        sizeof hairspring_entries / sizeof hairspring_entries[0]);             \
  }
#endif

#endif
