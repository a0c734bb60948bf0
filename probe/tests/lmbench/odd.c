/* lmbench's interface with odd input: every case ends with a line that says what is wrong, or with
 * an interval. */
#include "lmbench.h"

#include "../engine/check.h"

#include <pthread.h>

/* The line that is printed for the current result. */
static const char *line_of(hairspring_line unit, uint64 count) {
  static _Thread_local char line[1024];
  CHECK(hairspring_lmbench_line("work", (int32_t)unit, count, line, sizeof line) == strlen(line));
  return line;
}

static const char *nano_line(void) { return line_of(HAIRSPRING_LINE_NANO, get_n()); }

static int has(const char *line, const char *part) {
  if (strstr(line, part) != NULL) return 1;
  fprintf(stderr, "`%s` is not in: %s\n", part, line);
  return 0;
}

static void set(const char *name, const char *value) {
  CHECK(value == NULL ? unsetenv(name) == 0 : setenv(name, value, 1) == 0);
}

/* Some hundred cycles, so that it can be distinguished from an empty loop even on a busy core. */
static void work(void) {
  uint64_t value = 3;
  for (int turn = 0; turn < 400; turn += 1) {
    __asm__ volatile("" : "+r"(value));
    value *= 5;
  }
  BENCH_USE(value);
}

static void before_the_first_there_is_no_result(void) {
  CHECK(get_n() == 0 && gettime() == 0);
  CHECK(has(nano_line(), "no result: nothing was measured in this thread"));
}

static void lines_have_intervals(void) {
  BENCH(work(), 0);
  CHECK(get_n() > 0 && gettime() >= 2500);
  CHECK(has(nano_line(), "work: ") && has(nano_line(), " nanoseconds [") &&
      has(nano_line(), " to ") && has(nano_line(), "98.8 %, 11 exp"));
  CHECK(has(line_of(HAIRSPRING_LINE_MB, get_n()), " MB/sec [") &&
      has(line_of(HAIRSPRING_LINE_KB, get_n()), " KB/sec ["));
  /* Twice the operations in a trip: half the time for each. */
  double one_ns = atof(nano_line() + strlen("work: "));
  uint64 before = get_n();
  save_n(2 * get_n());
  CHECK(get_n() == 2 * before);
  double half = atof(nano_line() + strlen("work: "));
  CHECK(half > 0.45 * one_ns && half < 0.55 * one_ns);
}

#ifndef SANITIZED /* a sanitizer changes different loops differently */
/* Measures an empty loop until its time is below resolution. Neighbours on the CPU disturb one
 * measurement, not all of them. */
static int nothing_is_seen(void) {
  for (int attempt = 0; attempt < 20; attempt += 1) {
    BENCH(, 0);
    CHECK(get_n() > 0);
    if (strstr(nano_line(), "below resolution, at most ") != NULL) return 1;
  }
  return has(nano_line(), "below resolution, at most ");
}

static void empty_loops_are_below_resolution(void) {
  static const char *const loops[] = {NULL, "0", "0.0"};
  for (int at = 0; at < 3; at += 1) {
    set("LOOP_O", loops[at]);
    CHECK(nothing_is_seen() && gettime() == 0);
  }
}
#else
static void empty_loops_are_below_resolution(void) {}
#endif

static void nothing_is_below_resolution(void) {
  empty_loops_are_below_resolution();
  /* An overhead larger than the time cannot be subtracted. */
  set("LOOP_O", "1000");
  BENCH(work(), 0);
  CHECK(has(nano_line(), "below resolution, at most "));
  set("LOOP_O", NULL);
}

static void lengths_that_make_no_sense_are_refused(void) {
  BENCH(work(), -1);
  CHECK(get_n() == 0 && has(nano_line(), "no result: ") && has(nano_line(), "-1.0 us"));
  BENCH(work(), 1e18);
  CHECK(get_n() == 0 && has(nano_line(), "900000000"));
  BENCH(work(), 0.0 / (double)get_n());
  CHECK(get_n() == 0 && has(nano_line(), "NaN"));
  /* Short and long intervals have the requested length. */
  BENCH(work(), 1);
  CHECK(get_n() > 0 && has(nano_line(), "11 experiments"));
  BENCH(work(), 150000);
  CHECK(gettime() >= 75000 && has(nano_line(), "1 experiment, no spread"));
  BENCH1(work(), 2000);
  CHECK(gettime() >= 1000 && has(nano_line(), "1 experiment, no spread"));
}

static void the_environment_sets_the_parameters(void) {
  static const char *const names[] = {"ENOUGH", "TIMING_O", "LOOP_O"},
      *const garbage[] = {"soon", "", "-3", "nan", "1e300", "5 ms", "0x"};
  for (size_t name = 0; name < 3; name += 1) {
    for (size_t at = 0; at < sizeof garbage / sizeof garbage[0]; at += 1) {
      set(names[name], garbage[at]);
      BENCH(work(), 0);
      CHECK(get_n() == 0 && has(nano_line(), "no result: "));
    }
    set(names[name], "soon");
    BENCH(work(), 0);
    CHECK(has(nano_line(), names[name]) && has(nano_line(), "`soon`"));
    set(names[name], NULL);
  }
  set("ENOUGH", " 130000 ");
  set("TIMING_O", "0.02");
  set("LOOP_O", "0.0003");
  BENCH(work(), 0);
  CHECK(gettime() >= 65000 && has(nano_line(), "1 experiment"));
  /* The program's settings take precedence. */
  BENCH(work(), 1000);
  CHECK(has(nano_line(), "11 experiments"));
  set("ENOUGH", NULL), set("TIMING_O", NULL), set("LOOP_O", NULL);
}

static void bodies_may_be_odd(void) {
  uint64 inner = 0;
  BENCH(
      BENCH1(work(), 100);
      inner = get_n(), 200);
  CHECK(inner > 0 && get_n() > 0 && has(nano_line(), "11 experiments"));
  BENCH(
      if (get_n() > 0) continue;
      work(), 500);
  CHECK(get_n() > 0);
  BENCH(
      work();
      if (hairspring_left == 3) break, 500);
  CHECK(get_n() == 0 && has(nano_line(), "must not leave it"));
}

static void numbers_may_be_odd(void) {
  BENCH(work(), 1000);
  CHECK(has(line_of(HAIRSPRING_LINE_MICRO, 0), "0 operations") &&
      has(line_of(HAIRSPRING_LINE_MB, 0), "0 bytes"));
  CHECK(has(line_of(HAIRSPRING_LINE_MICRO, UINT64_MAX), " microseconds [") &&
      has(line_of(HAIRSPRING_LINE_KB, UINT64_MAX), " KB/sec ["));
  CHECK(has(line_of((hairspring_line)77, 1), "unit 77"));
  char few[8];
  CHECK(hairspring_lmbench_line("\xff\n\x1b[2J", 1, 1, few, sizeof few) > sizeof few &&
      strlen(few) < sizeof few);
  CHECK(hairspring_lmbench_line(NULL, 1, 1, NULL, 0) > 0);
  save_n(0);
  CHECK(get_n() == 0 && has(nano_line(), "0 operations"));
}

static void *in_a_thread(void *how_long) {
  int enough = *(const int *)how_long;
  CHECK(get_n() == 0);
  for (int turn = 0; turn < 3; turn += 1) {
    BENCH(work(), enough);
    CHECK(get_n() > 0 && has(nano_line(), "11 experiments"));
  }
  return NULL;
}

static void each_thread_has_its_own_result(void) {
  pthread_t threads[2];
  int enough[2] = {300, 1000};
  BENCH(work(), 500);
  uint64 before = get_n();
  for (int at = 0; at < 2; at += 1)
    CHECK(pthread_create(&threads[at], NULL, in_a_thread, &enough[at]) == 0);
  for (int at = 0; at < 2; at += 1) CHECK(pthread_join(threads[at], NULL) == 0);
  CHECK(get_n() == before);
}

int main(void) {
  before_the_first_there_is_no_result();
  lines_have_intervals();
  nothing_is_below_resolution();
  lengths_that_make_no_sense_are_refused();
  the_environment_sets_the_parameters();
  bodies_may_be_odd();
  numbers_may_be_odd();
  each_thread_has_its_own_result();
  return 0;
}
