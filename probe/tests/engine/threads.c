/* Handles in two threads at once: tables, assessments, stopwatches and experiments. Their results
 * may be useless, but every call returns a status, and no data is torn. (A thread sanitizer for C
 * does not see the locks of the library.) */
#include "check.h"
#include "hairspring_engine.h"

#include <pthread.h>

#define TURNS 200

struct shared {
  hairspring_observations *table;
  hairspring_assessment *assessment;
  hairspring_stopwatch *stopwatch;
  hairspring_trials *trials;
  uint64_t (*now)(void);
};

static void push_rows(hairspring_observations *table) {
  for (unsigned copies = 1; copies <= 8; copies += 1) {
    double count = copies;
    uint32_t row = 0;
    CHECK_OK(hairspring_observations_row(table, NULL, &count, 1, &row));
    for (unsigned round = 0; round < 8; round += 1)
      CHECK_OK(hairspring_observations_push(table, row, round, 10.0 * count + round % 5));
  }
}

static void use_stopwatch(hairspring_stopwatch *stopwatch) {
  hairspring_span span = HAIRSPRING_SIZED(hairspring_span);
  hairspring_elapsed elapsed = HAIRSPRING_SIZED(hairspring_elapsed);
  CHECK_OK(hairspring_stopwatch_start(stopwatch));
  /* If the other thread has stopped it, the status says so. */
  hairspring_status lap = hairspring_stopwatch_lap(stopwatch, &span),
      stop = hairspring_stopwatch_stop(stopwatch, &span);
  CHECK(lap == HAIRSPRING_STATUS_OK || lap == HAIRSPRING_STATUS_REFUSED);
  CHECK(stop == HAIRSPRING_STATUS_OK || stop == HAIRSPRING_STATUS_REFUSED);
  CHECK_OK(hairspring_stopwatch_total(stopwatch, &span));
  CHECK_OK(hairspring_stopwatch_elapsed(stopwatch, &span, 0.0, &elapsed));
}

static void use_trials(const struct shared *shared) {
  hairspring_trip_time trip_time = HAIRSPRING_SIZED(hairspring_trip_time);
  uint64_t trips = 0, begin = shared->now();
  /* The trips of the other thread are refused; then either thread may continue. */
  hairspring_status next = hairspring_trials_next(shared->trials, shared->now() - begin, 1, &trips);
  CHECK(next == HAIRSPRING_STATUS_OK || next == HAIRSPRING_STATUS_REFUSED);
  hairspring_status result = hairspring_trials_result(shared->trials, 0.0, &trip_time);
  CHECK(result == HAIRSPRING_STATUS_OK || result == HAIRSPRING_STATUS_REFUSED);
}

static void *use_all(void *argument) {
  const struct shared *shared = argument;
  hairspring_component components[2];
  size_t count = 0;
  for (unsigned turn = 0; turn < TURNS; turn += 1) {
    push_rows(shared->table);
    CHECK_OK(hairspring_assessment_components(shared->assessment, components, sizeof components[0],
        2, &count));
    use_stopwatch(shared->stopwatch);
    use_trials(shared);
    /* Each thread has its own text. */
    CHECK(hairspring_observations_count(shared->table, NULL) == HAIRSPRING_STATUS_BAD_POINTER &&
        last_error()[0] != 0);
  }
  return NULL;
}

static void *make_and_free(void *argument) {
  (void)argument;
  for (unsigned turn = 0; turn < 2; turn += 1) {
    hairspring_trials *trials = NULL;
    uint64_t (*now)(void) = NULL;
    hairspring_clock clock = HAIRSPRING_SIZED(hairspring_clock);
    CHECK_OK(hairspring_trials_new(NULL, &now, &trials));
    CHECK_OK(hairspring_clock_find(NULL, &clock));
    CHECK(clock.read == now);
    hairspring_trials_free(trials);
  }
  return NULL;
}

static void in_two_threads(void *(*work)(void *), void *argument) {
  pthread_t threads[2];
  for (int at = 0; at < 2; at += 1) CHECK(pthread_create(&threads[at], NULL, work, argument) == 0);
  for (int at = 0; at < 2; at += 1) CHECK(pthread_join(threads[at], NULL) == 0);
}

int main(void) {
  const char *names[] = {"body"};
  struct shared shared = {NULL, NULL, NULL, NULL, NULL};
  size_t readings = 0;
  in_two_threads(make_and_free, NULL);
  CHECK_OK(hairspring_observations_new(names, 1, &shared.table));
  push_rows(shared.table);
  CHECK_OK(hairspring_assess(shared.table, NULL, &shared.assessment));
  CHECK_OK(hairspring_stopwatch_new(NULL, &shared.stopwatch));
  CHECK_OK(hairspring_trials_new(NULL, &shared.now, &shared.trials));
  in_two_threads(use_all, &shared);
  CHECK_OK(hairspring_observations_count(shared.table, &readings));
  CHECK(readings == (2 * TURNS + 1) * 64);
  hairspring_trials_free(shared.trials);
  hairspring_stopwatch_free(shared.stopwatch);
  hairspring_assessment_free(shared.assessment);
  hairspring_observations_free(shared.table);
  return 0;
}
