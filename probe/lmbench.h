/* The programming interface of lmbench 2.0 on Hairspring's engine, for programs that are written to
 * it (Staelin and McVoy, "mhz: Anatomy of a micro-benchmark", appendix). C11 and C++, gcc and
 * clang; link with libhairspring.
 *
 *   BENCH(loop_body, enough)     eleven experiments, the median is kept; one if the interval is
 *                                longer than 100 ms
 *   BENCH1(loop_body, enough)    one experiment
 *   get_n(), save_n(n)           how often loop_body ran in the kept interval; sets this number
 *   gettime()                    length of that interval in microseconds
 *   milli(s, n) micro(s, n) nano(s, n)   prints the time of one of n operations in that interval on
 *                                        standard error
 *   mb(bytes) kb(bytes)          prints the bandwidth, in units of 1,000,000 and 1000 bytes a
 *                                second
 *
 *   #include "bench.h"           (this file, in the folder lmbench of the headers) or "lmbench.h"
 *   int main(void) {
 *     BENCH(lrand48(), 0);
 *     micro("lrand48()", get_n());
 *     // lrand48(): 0.00542 microseconds [0.005404 to 0.005438; 98.8 %, 11 experiments]
 *   }
 *
 * loop_body is written out in a loop in your function. It must be repeatable and must not leave the
 * loop: after a break, goto or return out of it there is no result. `enough` is the minimum length
 * of the interval in microseconds; 0 means the length that the clock needs for 1 %. The result is
 * kept for the thread, and replaces the previous one.
 *
 * The number is the time of one run of loop_body. The time of a read of the clock is subtracted
 * from each interval, and the time of the loop itself from each trip. The engine measures both when
 * the first BENCH runs (some 50 ms), the loop by the paper's two equations on loops that your
 * compiler made with the same options. The body may hide a part of the loop, so the interval in the
 * brackets extends downwards by the whole time of the loop (about a core cycle; more without
 * optimisation). Several operations in one loop_body make this effect small. A trip that takes less
 * than two and a half times an empty one cannot be distinguished from it: it is "below resolution"
 * with its bound, and is never printed as 0. The same holds for a body that the compiler removed.
 *
 * The interval in the brackets also includes the spread of the experiments, the clock's quantum and
 * the uncertainty of its rate. A single experiment has no spread, and its line says so.
 *
 * Environment: ENOUGH is the interval of every BENCH whose own is 0; TIMING_O and LOOP_O are the
 * overheads of timing and loop, which then count as exact and are not measured (LOOP_O=0 if the
 * loop is negligible). All are in microseconds and are read at every BENCH; a value that is not a
 * number is an error, and there is no result.
 *
 * The compiler does not compute results that are not used. Memory that the body writes counts as
 * used if its address has escaped: use BENCH_USE(pointer) for that. */
#ifndef HAIRSPRING_LMBENCH_H
#define HAIRSPRING_LMBENCH_H

/* The programs call lrand48, putenv and bcopy. */
#if defined(__STRICT_ANSI__) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "hairspring_engine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <strings.h>
#include <unistd.h>
#endif

typedef uint64_t uint64;

/* The value, an integer or a pointer, counts as used, and so does the memory that a pointer points
 * to. */
#define BENCH_USE(value) __asm__ volatile("" : : "r"(value) : "memory")

/* The end of a trip: the compiler does not know how many are left, and memory counts as read and
 * written. */
#define HAIRSPRING_LMBENCH_TRIP(left) __asm__ volatile("" : "+r"(left) : : "memory")

/* The loop of BENCH with 0, 1 or 2 copies of an expression, from which the engine determines the
 * time of the loop. */
__attribute__((noinline, unused))
    static void hairspring_lmbench_loop(uint32_t copies, uint64_t trips) {
  uint64_t trips_left = trips, value = trips;
  switch (copies) {
    case 0:
      for (; trips_left > 0; trips_left -= 1) HAIRSPRING_LMBENCH_TRIP(trips_left);
      break;
    case 1:
      for (; trips_left > 0; trips_left -= 1) {
        __asm__ volatile("" : "+r"(value));
        value *= 3;
        HAIRSPRING_LMBENCH_TRIP(trips_left);
      }
      break;
    default:
      for (; trips_left > 0; trips_left -= 1) {
        __asm__ volatile("" : "+r"(value));
        value *= 3;
        __asm__ volatile("" : "+r"(value));
        value *= 3;
        HAIRSPRING_LMBENCH_TRIP(trips_left);
      }
  }
  __asm__ volatile("" : : "r"(value));
}

__attribute__((unused)) static inline void hairspring_lmbench_complain(hairspring_status status) {
  char text[512];
  if (status == HAIRSPRING_STATUS_OK) return;
  hairspring_last_error(text, sizeof text);
  fprintf(stderr, "BENCH: no result: %s\n", text);
}

/* Experiments in progress. */
struct hairspring_lmbench {
  hairspring_trials *trials;
  uint64_t (*now)(void);
  hairspring_status status;
  uint64_t trips;
  uint64_t left;
  uint64_t begin;
};

__attribute__((unused)) static inline struct hairspring_lmbench hairspring_lmbench_open(
    double enough, uint32_t experiments) {
  struct hairspring_lmbench bench;
  memset(&bench, 0, sizeof bench);
  bench.status = hairspring_lmbench_begin(enough, experiments, hairspring_lmbench_loop, &bench.now,
      &bench.trials);
  hairspring_lmbench_complain(bench.status);
  return bench;
}

/* Reports the trips that were run and gets the next number; at the end, keeps the result. */
__attribute__((unused))
    static inline int hairspring_lmbench_next(struct hairspring_lmbench *bench, uint64_t ticks) {
  if (bench->trials == NULL) return 0;
  bench->status = hairspring_trials_next(bench->trials, ticks, bench->trips - bench->left,
      &bench->trips);
  bench->left = bench->trips;
  if (bench->trips > 0) return 1;
  hairspring_lmbench_complain(hairspring_lmbench_end(bench->trials, (int32_t)bench->status));
  bench->trials = NULL;
  return 0;
}

#define HAIRSPRING_LMBENCH_EXPERIMENTS(loop_body, enough, experiments)      \
  {                                                                         \
    struct hairspring_lmbench hairspring_bench =                            \
        hairspring_lmbench_open((double)(enough), experiments);             \
    uint64_t hairspring_ticks = 0;                                          \
    while (hairspring_lmbench_next(&hairspring_bench, hairspring_ticks)) {  \
      uint64_t hairspring_left = hairspring_bench.trips;                    \
      uint64_t (*const hairspring_read_clock)(void) = hairspring_bench.now; \
      uint64_t hairspring_begin = hairspring_read_clock();                  \
      for (; hairspring_left > 0; hairspring_left -= 1) {                   \
        loop_body;                                                          \
        HAIRSPRING_LMBENCH_TRIP(hairspring_left);                           \
      }                                                                     \
      hairspring_ticks = hairspring_read_clock() - hairspring_begin;        \
      hairspring_bench.left = hairspring_left;                              \
    }                                                                       \
  }

#define BENCH(loop_body, enough) HAIRSPRING_LMBENCH_EXPERIMENTS(loop_body, enough, 0)
#define BENCH1(loop_body, enough) HAIRSPRING_LMBENCH_EXPERIMENTS(loop_body, enough, 1)

__attribute__((unused)) static inline void hairspring_lmbench_print(const char *name,
    hairspring_line unit, uint64_t count) {
  char line[1024];
  hairspring_lmbench_line(name, (int32_t)unit, count, line, sizeof line);
  fprintf(stderr, "%s\n", line);
}

__attribute__((unused)) static inline uint64 get_n(void) { return hairspring_lmbench_n(); }
__attribute__((unused)) static inline void save_n(uint64 n) { hairspring_lmbench_save_n(n); }
__attribute__((unused)) static inline uint64 gettime(void) {
  return (uint64)(hairspring_lmbench_usecs() + 0.5);
}

__attribute__((unused)) static inline void milli(const char *s, uint64 n) {
  hairspring_lmbench_print(s, HAIRSPRING_LINE_MILLI, n);
}
__attribute__((unused)) static inline void micro(const char *s, uint64 n) {
  hairspring_lmbench_print(s, HAIRSPRING_LINE_MICRO, n);
}
__attribute__((unused)) static inline void nano(const char *s, uint64 n) {
  hairspring_lmbench_print(s, HAIRSPRING_LINE_NANO, n);
}
__attribute__((unused)) static inline void mb(uint64 bytes) {
  hairspring_lmbench_print(NULL, HAIRSPRING_LINE_MB, bytes);
}
__attribute__((unused)) static inline void kb(uint64 bytes) {
  hairspring_lmbench_print(NULL, HAIRSPRING_LINE_KB, bytes);
}

#endif
