/* Functions of the system for C programs that measure time, in addition to hairspring.h, with the
 * same names on every system.
 *
 *   hairspring_priority_raise(&priority)     the calling thread at its highest priority;
 *                                            hairspring_priority_release
 *   hairspring_clock_rate(seconds)           ticks per second of hairspring_now, measured unless
 *                                            they are stated
 *   hairspring_watch_time(&watch, &rate)     the time of a stopwatch in seconds, with its
 *                                            uncertainty
 *
 * Linux and other Unix-like systems, Windows (mingw-w64), macOS (compiled only, never run). With
 * -std=c11, if a header of the system is included before this one, define _POSIX_C_SOURCE as
 * 199309L before any header. */
#ifndef HAIRSPRING_SYSTEM_H
#define HAIRSPRING_SYSTEM_H

#include "hairspring.h"

#ifdef HAIRSPRING_FREESTANDING
#error "hairspring_system.h needs a system: leave out HAIRSPRING_FREESTANDING, or this header"
#elif !defined(HAIRSPRING_SYSTEM_CLOCK_NAME)
#error "hairspring_system.h needs clock_gettime: include it first, or define _POSIX_C_SOURCE as 199309L before any header"
#endif

/* ---- a raised priority ----------------------------------------------------------------------- */

/* A thread's priority before it was raised. */
struct hairspring_priority {
  int raised; /* 1 from a successful raise until the release */
  int before; /* nice value; on Windows the thread's priority */
  int error;  /* why it was refused: errno, on Windows GetLastError; 0 if it was allowed */
};

#ifdef _WIN32

/* As above, declared as <windows.h> declares them. */
#ifndef _WINDOWS_
#ifdef __cplusplus
extern "C" {
#endif
__declspec(dllimport) void *__stdcall GetCurrentThread(void);
__declspec(dllimport) int __stdcall GetThreadPriority(void *);
__declspec(dllimport) int __stdcall SetThreadPriority(void *, int);
__declspec(dllimport) unsigned long __stdcall GetLastError(void);
#ifdef __cplusplus
}
#endif
#endif

#define HAIRSPRING_HIGHEST_PRIORITY 15 /* THREAD_PRIORITY_TIME_CRITICAL */
static inline int hairspring_priority_get(int *priority) {
  *priority = GetThreadPriority(GetCurrentThread());
  return *priority == 0x7fffffff ? (int)GetLastError() : 0; /* THREAD_PRIORITY_ERROR_RETURN */
}
static inline int hairspring_priority_set(int priority) {
  return SetThreadPriority(GetCurrentThread(), priority) ? 0 : (int)GetLastError();
}

#else

#include <errno.h>
#include <sys/resource.h>

#define HAIRSPRING_HIGHEST_PRIORITY (-20) /* as a nice value */
/* 0 is the calling thread on Linux, and the whole process elsewhere. */
static inline int hairspring_priority_get(int *priority) {
  errno = 0; /* -1 is also a valid result */
  *priority = getpriority(PRIO_PROCESS, 0);
  return errno;
}
static inline int hairspring_priority_set(int priority) {
  return setpriority(PRIO_PROCESS, 0, priority) == 0 ? 0 : errno;
}

#endif

/* Raises the calling thread's priority to the highest one that is not a real-time priority
 * (StopWatch, 3.3). Returns 1 if that was allowed; otherwise 0 with the reason in `error`, and
 * nothing is changed. Windows allows it to everybody; Linux and macOS to root, Linux also with
 * CAP_SYS_NICE or `ulimit -e 40`. */
static inline int hairspring_priority_raise(struct hairspring_priority *priority) {
  priority->raised = 0;
  priority->error = hairspring_priority_get(&priority->before);
  if (priority->error == 0) priority->error = hairspring_priority_set(HAIRSPRING_HIGHEST_PRIORITY);
  priority->raised = priority->error == 0;
  return priority->raised;
}

/* Restores the previous priority; to be called by the same thread. Returns 1 on success, or 0 with
 * the reason in `error`. Does nothing if the priority was not raised, or was already released. */
static inline int hairspring_priority_release(struct hairspring_priority *priority) {
  if (!priority->raised) return 1;
  priority->error = hairspring_priority_set(priority->before);
  priority->raised = priority->error != 0;
  return !priority->raised;
}

/* ---- the rate of the clock ------------------------------------------------------------------- */

/* Ticks per second of hairspring_now. */
struct hairspring_rate {
  double hz;             /* 0 if one of the clocks stands still */
  /* standard uncertainty of the comparison; it does not include the error of the system's clock */
  double uncertainty_hz;
  /* length of the measurement; 0: stated by the system, the processor or the program */
  double seconds;
  double quantum_ticks;  /* smallest step of the clock */
};

/* A step of the system's clock: its new value, and the ticks between which it came. */
struct hairspring_step {
  uint64_t system;
  uint64_t ticks; /* the middle */
  uint64_t width;
};

/* a clock that does not move in this many reads stands still */
#define HAIRSPRING_STEP_READS 10000000u
#define HAIRSPRING_STEP_TRIES 20u

/* The step of hairspring_now, even of a clock that moves so rarely that hairspring_quantum finds
 * none; 0 if it never moves. */
static inline double hairspring_quantum_ticks(void) {
  uint64_t quantum = hairspring_quantum(), before = hairspring_now();
  for (uint32_t reads = 0; quantum == 0 && reads < HAIRSPRING_STEP_READS; reads += 1)
    quantum = hairspring_now() - before;
  return (double)quantum;
}

/* Waits for a step; 0 if none comes. */
static inline int hairspring_step_await(struct hairspring_step *step) {
  uint64_t before = hairspring_now(), last = hairspring_system_now();
  for (uint32_t reads = 0; reads < HAIRSPRING_STEP_READS; reads += 1) {
    uint64_t next = hairspring_now();
    step->system = hairspring_system_now();
    if (step->system != last) {
      step->width = hairspring_now() - before;
      step->ticks = before + step->width / 2;
      return 1;
    }
    before = next;
  }
  return 0;
}

/* The most precise one of several steps. */
static inline int hairspring_step_best(struct hairspring_step *best) {
  struct hairspring_step step = {0, 0, 0};
  best->width = UINT64_MAX;
  for (unsigned tries = 0; tries < HAIRSPRING_STEP_TRIES; tries += 1) {
    if (!hairspring_step_await(&step)) return 0;
    if (step.width < best->width) *best = step;
  }
  return 1;
}

/* Square root by Heron's method, so that a program needs no mathematical library. */
static inline double hairspring_root(double square) {
  double root = square > 1.0 ? square : 1.0, next = root;
  if (!(square > 0.0)) return 0.0;
  do root = next, next = (root + square / root) / 2.0;
  while (next < root);
  return root;
}

/* The rate as measured against the system's clock over so many seconds, an hour at most; also where
 * it is stated. Busy all the while. 0.1 s make the uncertainty about one part in a million. */
static inline struct hairspring_rate hairspring_measure_rate(double seconds) {
  struct hairspring_rate rate = {0.0, 0.0, 0.0, hairspring_quantum_ticks()};
  struct hairspring_step begin = {0, 0, 0}, end = begin;
  double hz = (double)hairspring_system_hz();
  double wanted_ticks = !(seconds > 0.0) ? 0.0 : seconds < 3600.0 ? seconds * hz : 3600.0 * hz;
  if (!hairspring_step_best(&begin)) return rate;
  do {
    if (!hairspring_step_best(&end)) return rate;
  } while ((double)(end.system - begin.system) < wanted_ticks);
  rate.seconds = (double)(end.system - begin.system) / hz;
  rate.hz = (double)(end.ticks - begin.ticks) / rate.seconds;
  /* Each step lies anywhere within its width, read by a clock that has steps itself: variances of
   * uniform distributions. */
  double first = (double)begin.width + rate.quantum_ticks,
      second = (double)end.width + rate.quantum_ticks;
  rate.uncertainty_hz = hairspring_root((first * first + second * second) / 12.0) / rate.seconds;
  return rate;
}

/* The stated rate, or the measured one if none is stated. */
static inline struct hairspring_rate hairspring_clock_rate(double seconds) {
  struct hairspring_rate rate = {(double)hairspring_clock_hz(), 0.0, 0.0, 0.0};
  if (!(rate.hz > 0.0)) return hairspring_measure_rate(seconds);
  rate.quantum_ticks = hairspring_quantum_ticks();
  return rate;
}

/* ---- the stopwatch in seconds ---------------------------------------------------------------- */

/* A time with its standard uncertainty. */
struct hairspring_time {
  double seconds; /* never clamped: a time shorter than the overhead's spread may be below 0 */
  double uncertainty; /* infinite if the rate is unknown */
};

/* Time of so many ticks, as hairspring_watch_ticks gives them, by a watch: the overhead's spread,
 * the steps of the clock at both ends (a triangular distribution), and the rate are in the
 * uncertainty. */
static inline struct hairspring_time hairspring_watch_time_of(const struct hairspring_watch *watch,
    const struct hairspring_rate *rate, double ticks) {
  struct hairspring_time time = {0.0, __builtin_inf()};
  if (!(rate->hz > 0.0)) return time;
  double of_rate = ticks * rate->uncertainty_hz / rate->hz;
  double steps = rate->quantum_ticks * rate->quantum_ticks / 6.0;
  time.seconds = ticks / rate->hz;
  time.uncertainty = hairspring_root(watch->overhead_variance + steps + of_rate * of_rate) /
      rate->hz;
  return time;
}

/* Time since the start, minus the overhead. It reads the clock first. */
static inline struct hairspring_time hairspring_watch_time(const struct hairspring_watch *watch,
    const struct hairspring_rate *rate) {
  double ticks = hairspring_watch_ticks(watch);
  return hairspring_watch_time_of(watch, rate, ticks);
}

#endif
