/* hairspring_system.h on a fake clock that is derived from the system's, so that its true rate is
 * known: measured and stated rates, times with their uncertainty, and the priority as the system
 * itself reports it. On every system. */
#ifdef __linux__
#define _POSIX_C_SOURCE 199309L /* a header comes before ours */
#endif
#include <stdint.h>

static uint64_t read_ours(void);
static double stated_hz;
#define HAIRSPRING_READ_CLOCK read_ours
#define HAIRSPRING_CLOCK_HZ stated_hz
#include "hairspring_system.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#undef NDEBUG
#include <assert.h>

/* `factor` ticks for one tick of the system's clock, in steps of `step`; it stands still if
 * `factor` is 0. */
static uint64_t factor, step;
static uint64_t read_ours(void) { return hairspring_system_now() * factor / step * step; }

static double square(double value) { return value * value; }

static void the_measured_rate_is_the_true_one(void) {
  const uint64_t factors[] = {1, 3, 7}, steps[] = {1, 26, 1000};
  for (unsigned at = 0; at < 9; at += 1) {
    factor = factors[at / 3], step = steps[at % 3], stated_hz = 0.0;
    struct hairspring_rate rate = hairspring_clock_rate(0.005);
    double truth = (double)(factor * hairspring_system_hz());
    assert(rate.seconds >= 0.005 && rate.quantum_ticks >= (double)step);
    /* No error is larger than half the widths at both ends together. */
    assert(square(rate.hz - truth) <= 6.01 * square(rate.uncertainty_hz));
    assert(rate.uncertainty_hz > 0.0 && rate.uncertainty_hz < truth);
  }
}

static void a_coarse_clock_makes_the_rate_as_uncertain(void) {
  factor = 1, step = hairspring_system_hz() / 1000; /* a millisecond */
  struct hairspring_rate rate = hairspring_measure_rate(0.01);
  assert(rate.quantum_ticks >= (double)step &&
      rate.uncertainty_hz * rate.seconds >= 0.4 * (double)step);
}

static void a_stated_rate_is_taken_as_it_is(void) {
  factor = 3, step = 2, stated_hz = 16e6;
  struct hairspring_rate rate = hairspring_clock_rate(1e9);
  assert(square(rate.hz - 16e6) < 1.0 && square(rate.uncertainty_hz) < 1e-12 &&
      square(rate.seconds) < 1e-12 && rate.quantum_ticks >= 2.0);
  assert(hairspring_clock_hz() == 16000000u);
}

static void a_clock_that_stands_still_has_no_rate_and_gives_no_time(void) {
  factor = 0, step = 1, stated_hz = 0.0;
  struct hairspring_rate rate = hairspring_clock_rate(-1.0);
  struct hairspring_watch watch = {0, 0.0, 0.0};
  assert(!(rate.hz > 0.0) && !(rate.quantum_ticks > 0.0));
  assert(hairspring_watch_time(&watch, &rate).uncertainty > 1e300);
}

static void a_time_has_all_that_makes_it_uncertain(void) {
  const struct hairspring_watch watch = {0, 70.0, 4.0};
  const struct hairspring_rate rate = {2e9, 2e3, 0.1, 12.0};
  struct hairspring_time time = hairspring_watch_time_of(&watch, &rate, 2e6),
      shorter = hairspring_watch_time_of(&watch, &rate, -30.0);
  assert(square(time.seconds - 1e-3) < 1e-24);
  assert(square(time.uncertainty / (hairspring_root(4.0 + 24.0 + 4.0) / 2e9) - 1.0) < 1e-20);
  assert(square(shorter.seconds / -15e-9 - 1.0) < 1e-20);
}

static void roots_are_roots(void) {
  const double roots[] = {1e-150, 1e-9, 0.5, 1.0, 3.0, 1e6, 1e150};
  for (unsigned at = 0; at < sizeof roots / sizeof roots[0]; at += 1)
    assert(square(hairspring_root(square(roots[at])) / roots[at] - 1.0) < 1e-28);
  assert(!(hairspring_root(0.0) > 0.0) && !(hairspring_root(-1.0) > 0.0));
}

/* The priority that the system reports, not the header. */
static int seen(void) {
#ifdef _WIN32
  return GetThreadPriority(GetCurrentThread());
#else
  return getpriority(PRIO_PROCESS, 0);
#endif
}

static void the_priority_is_raised_or_refused_and_given_back(void) {
  int before = seen();
  struct hairspring_priority first, second;
  if (hairspring_priority_raise(&first)) {
    assert(seen() == HAIRSPRING_HIGHEST_PRIORITY && first.raised && first.error == 0);
    assert(hairspring_priority_raise(&second) && hairspring_priority_release(&second));
    assert(seen() == HAIRSPRING_HIGHEST_PRIORITY);
  } else {
    assert(seen() == before && !first.raised && first.error != 0);
  }
  assert(hairspring_priority_release(&first) && !first.raised && seen() == before);
  assert(hairspring_priority_release(&first) && seen() == before);
}

#ifdef _WIN32
static void the_priority_is_the_highest_and_not_only_ours(void) {
  struct hairspring_priority priority;
  assert(HAIRSPRING_HIGHEST_PRIORITY == THREAD_PRIORITY_TIME_CRITICAL);
  assert(SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL));
  assert(hairspring_priority_raise(&priority) && seen() == THREAD_PRIORITY_TIME_CRITICAL);
  assert(hairspring_priority_release(&priority) && seen() == THREAD_PRIORITY_BELOW_NORMAL);
}
#else
/* A process without privileges: the refusal is reported, and nothing has changed. */
static void the_priority_is_refused_to_others(void) {
  int status = 0;
  pid_t child = fork();
  assert(child >= 0);
  if (child == 0) {
    struct hairspring_priority priority;
    /* 19 is allowed to everybody, with any nice value of this test. */
    if (setuid(65534) != 0 || setpriority(PRIO_PROCESS, 0, 19) != 0) _exit(1);
    _exit(!hairspring_priority_raise(&priority) && priority.error != 0 && seen() == 19 ? 0 : 1);
  }
  assert(waitpid(child, &status, 0) == child && status == 0);
}
#endif

int main(void) {
  the_measured_rate_is_the_true_one();
  a_coarse_clock_makes_the_rate_as_uncertain();
  a_stated_rate_is_taken_as_it_is();
  a_clock_that_stands_still_has_no_rate_and_gives_no_time();
  a_time_has_all_that_makes_it_uncertain();
  roots_are_roots();
  the_priority_is_raised_or_refused_and_given_back();
#ifdef _WIN32
  the_priority_is_the_highest_and_not_only_ours();
#else
  if (getuid() == 0) the_priority_is_refused_to_others();
#endif
  return 0;
}
