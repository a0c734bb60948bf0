/* The C ABI: a table is solved, files are written and read back, and null pointers, wrong sizes and
 * two threads do no harm. */
#include "check.h"
#include "hairspring_engine.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Copies of a piece of code of `slope` ticks on top of a constant of 40, with a wobble that differs
 * from row to row. */
static void add_line(hairspring_observations *table, const char *series, double slope) {
  for (unsigned copies = 1; copies <= 8; copies += 1) {
    double count = copies;
    uint32_t row = 0;
    CHECK_OK(hairspring_observations_row(table, series, &count, 1, &row));
    for (unsigned round = 0; round < 64; round += 1) {
      double wobble = (double)((round * 7 + copies * 13) % 11) - 5.0;
      CHECK_OK(hairspring_observations_push(table, row, round, slope * count + 40.0 + wobble));
    }
  }
}

static hairspring_observations *new_table(void) {
  const char *names[] = {"body"};
  hairspring_observations *table = NULL;
  CHECK_OK(hairspring_observations_new(names, 1, &table));
  hairspring_table_clock clock = HAIRSPRING_SIZED(hairspring_table_clock);
  clock.rate_hz = 2e9;
  clock.quantum = 1.0;
  CHECK_OK(hairspring_observations_set_clock(table, "invented", &clock));
  return table;
}

static size_t components_of(hairspring_observations *table, hairspring_component *parts,
    size_t room) {
  hairspring_assessment *assessment = NULL;
  size_t count = 0;
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK_OK(hairspring_assessment_components(assessment, parts, sizeof *parts, room, &count));
  hairspring_assessment_free(assessment);
  return count;
}

static void a_table_is_solved_and_compared(void) {
  hairspring_observations *table = new_table();
  add_line(table, "a", 100.0);
  add_line(table, "b", 200.0);
  hairspring_question question = HAIRSPRING_SIZED(hairspring_question);
  question.level = 0.99;
  hairspring_assessment *assessment = NULL;
  CHECK_OK(hairspring_assess(table, &question, &assessment));
  hairspring_component parts[4];
  size_t count = 0;
  CHECK_OK(hairspring_assessment_components(assessment, parts, sizeof parts[0], 4, &count));
  CHECK(count == 4 && strcmp(parts[0].series, "a") == 0 && strcmp(parts[0].name, "body") == 0);
  CHECK(parts[0].ticks.low <= 100.0 && parts[0].ticks.high >= 100.0 &&
      fabs(parts[0].ticks.level - 0.99) < 1e-9);
  CHECK(fabs(parts[0].ns.value - 50.0) < 1.0 && fabs(parts[0].cycles.level) < 1e-9);
  CHECK(parts[1].kind == HAIRSPRING_KIND_OVERHEAD && fabs(parts[1].ticks.value - 40.0) < 5.0);
  hairspring_comparison comparison;
  CHECK_OK(hairspring_assessment_comparisons(assessment, &comparison, sizeof comparison, 1,
      &count));
  CHECK(count == 1 && strcmp(comparison.a, "b") == 0 &&
      comparison.verdict == HAIRSPRING_VERDICT_SLOWER);
  CHECK(fabs(comparison.ratio.value - 2.0) < 0.05);
  CHECK_OK(hairspring_assessment_findings(assessment, NULL, sizeof(hairspring_finding), 0, &count));
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
}

static void files_go_there_and_back(const char *path) {
  hairspring_observations *table = new_table(), *again = NULL;
  size_t before = 0, after = 0;
  add_line(table, NULL, 100.0);
  CHECK_OK(hairspring_observations_write_csv(table, path));
  CHECK_OK(hairspring_observations_read_csv(path, &again));
  CHECK_OK(hairspring_observations_count(table, &before));
  CHECK_OK(hairspring_observations_count(again, &after));
  CHECK(before == 8 * 64 && after == before);
  hairspring_component first[2], second[2];
  CHECK(components_of(table, first, 2) == 2 && components_of(again, second, 2) == 2);
  CHECK(fabs(first[0].ticks.high - second[0].ticks.high) < 1e-9);
  hairspring_observations_free(again);
  hairspring_observations_free(table);
  static const unsigned char bad[] = "body,ticks\n1,many\n";
  CHECK(hairspring_observations_parse_csv(bad, sizeof bad - 1,
      &again) == HAIRSPRING_STATUS_BAD_OBSERVATIONS);
  CHECK(strstr(last_error(), "line 2") != NULL);
  CHECK(hairspring_observations_read_csv("no/such/file", &again) == HAIRSPRING_STATUS_INPUT_OUTPUT);
}

static void null_pointers_are_refused(void) {
  const hairspring_status bad = HAIRSPRING_STATUS_BAD_POINTER;
  const char *names[] = {"body"}, *nothing[] = {NULL};
  hairspring_observations *table = NULL;
  double count = 1.0;
  uint32_t row = 0;
  size_t number = 0;
  CHECK(hairspring_observations_new(NULL, 1, &table) == bad);
  CHECK(hairspring_observations_new(nothing, 1, &table) == bad);
  CHECK(hairspring_observations_new(names, 1, NULL) == bad);
  CHECK(hairspring_observations_set_clock(NULL, NULL, NULL) == bad);
  CHECK(hairspring_observations_row(NULL, NULL, &count, 1, &row) == bad);
  CHECK(hairspring_observations_push(NULL, 0, 0, 1.0) == bad);
  CHECK(hairspring_observations_count(NULL, &number) == bad);
  CHECK(hairspring_observations_read_csv(NULL, &table) == bad);
  CHECK(hairspring_observations_parse_csv(NULL, 4, &table) == bad);
  CHECK(hairspring_observations_write_csv(NULL, "x") == bad);
  CHECK(hairspring_assess(NULL, NULL, NULL) == bad);
  CHECK(hairspring_assessment_components(NULL, NULL, sizeof(hairspring_component), 0,
      &number) == bad);
  CHECK(hairspring_assessment_findings(NULL, NULL, sizeof(hairspring_finding), 0, &number) == bad);
  CHECK(hairspring_assessment_comparisons(NULL, NULL, sizeof(hairspring_comparison), 0,
      &number) == bad);
  CHECK(hairspring_clock_count(NULL) == bad && hairspring_clock_at(0, NULL) == bad &&
      hairspring_clock_find(NULL, NULL) == bad);
  CHECK(hairspring_stopwatch_new(NULL, NULL) == bad && hairspring_stopwatch_start(NULL) == bad);
  CHECK(hairspring_stopwatch_lap(NULL, NULL) == bad &&
      hairspring_stopwatch_stop(NULL, NULL) == bad);
  CHECK(hairspring_stopwatch_total(NULL, NULL) == bad &&
      hairspring_stopwatch_elapsed(NULL, NULL, 0, NULL) == bad);
  hairspring_observations_free(NULL);
  hairspring_assessment_free(NULL);
  hairspring_stopwatch_free(NULL);
  CHECK(hairspring_last_error(NULL, 0) > 0 && hairspring_status_name(99) != NULL &&
      hairspring_version() != NULL);
}

static void wrong_sizes_and_values_are_refused(void) {
  hairspring_observations *table = new_table();
  hairspring_assessment *assessment = NULL;
  hairspring_question question = HAIRSPRING_SIZED(hairspring_question);
  question.size -= 1;
  CHECK(hairspring_assess(table, &question, &assessment) == HAIRSPRING_STATUS_WRONG_SIZE &&
      assessment == NULL);
  CHECK(strstr(last_error(), "size") != NULL);
  question.size += 1;
  question.level = 2.0;
  CHECK(hairspring_assess(table, &question, &assessment) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_assess(table, NULL, &assessment) != HAIRSPRING_STATUS_OK);
  double counts[2] = {1.0, -1.0};
  uint32_t row = 0;
  CHECK(hairspring_observations_row(table, NULL, counts, 2, &row) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_row(table, NULL, counts + 1, 1,
      &row) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_row(table, "", counts, 1, &row) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_row(table, "\xff", counts, 1, &row) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_push(table, 7, 0, 1.0) == HAIRSPRING_STATUS_BAD_VALUE);
  add_line(table, NULL, 100.0);
  CHECK(hairspring_observations_push(table, 0, 0, (double)INFINITY) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_push(table, 0, UINT32_MAX, 1.0) == HAIRSPRING_STATUS_BAD_VALUE);
  hairspring_component parts[2];
  size_t count = 0;
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK(hairspring_assessment_components(assessment, parts, sizeof parts[0] + 4, 2,
      &count) == HAIRSPRING_STATUS_WRONG_SIZE);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
  const char *twice[] = {"a", "a"}, *reserved[] = {"ticks"};
  CHECK(hairspring_observations_new(twice, 2, &table) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_new(reserved, 1, &table) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_new(twice, 0, &table) == HAIRSPRING_STATUS_BAD_VALUE);
}

static void clocks_have_names(void) {
  size_t count = 0;
  hairspring_clock clock = HAIRSPRING_SIZED(hairspring_clock);
  CHECK_OK(hairspring_clock_count(&count));
  for (size_t at = 0; at < count; at += 1) {
    CHECK_OK(hairspring_clock_at(at, &clock));
    CHECK(clock.name[0] != 0 && (clock.read == NULL) == (clock.unavailable != NULL));
  }
  CHECK(hairspring_clock_at(count, &clock) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK_OK(hairspring_clock_find("monotonic", &clock));
  CHECK(clock.quantum > 0 && clock.read() <= clock.read());
  CHECK(hairspring_clock_find("sundial", &clock) == HAIRSPRING_STATUS_CLOCK_UNAVAILABLE);
  clock.size = 3;
  CHECK(hairspring_clock_find(NULL, &clock) == HAIRSPRING_STATUS_WRONG_SIZE);
}

static void the_stopwatch_runs(void) {
  hairspring_stopwatch *stopwatch = NULL;
  hairspring_span span = HAIRSPRING_SIZED(hairspring_span);
  hairspring_elapsed elapsed = HAIRSPRING_SIZED(hairspring_elapsed);
  CHECK_OK(hairspring_stopwatch_new(NULL, &stopwatch));
  CHECK(hairspring_stopwatch_stop(stopwatch, &span) == HAIRSPRING_STATUS_REFUSED);
  CHECK(strstr(last_error(), "call start first") != NULL);
  CHECK_OK(hairspring_stopwatch_start(stopwatch));
  CHECK_OK(hairspring_stopwatch_lap(stopwatch, &span));
  CHECK_OK(hairspring_stopwatch_stop(stopwatch, &span));
  CHECK(span.pairs == 1 && span.ticks > 0);
  CHECK_OK(hairspring_stopwatch_total(stopwatch, &span));
  CHECK(span.pairs == 2);
  CHECK_OK(hairspring_stopwatch_elapsed(stopwatch, &span, 0, &elapsed));
  CHECK(elapsed.overhead_ticks > 0 && elapsed.ns.low <= elapsed.ns.value &&
      elapsed.ns.value <= elapsed.ns.high);
  CHECK(hairspring_stopwatch_elapsed(stopwatch, &span, 0.2,
      &elapsed) == HAIRSPRING_STATUS_BAD_VALUE);
  hairspring_stopwatch_free(stopwatch);
}

static void *push_and_assess(void *shared) {
  hairspring_observations *table = shared;
  hairspring_component parts[2];
  for (unsigned turn = 0; turn < 20; turn += 1) {
    add_line(table, NULL, 100.0);
    CHECK(components_of(table, parts, 2) == 2);
  }
  return NULL;
}

static void two_threads_may_use_one_table(void) {
  hairspring_observations *table = new_table();
  pthread_t threads[2];
  size_t readings = 0;
  for (int at = 0; at < 2; at += 1)
    CHECK(pthread_create(&threads[at], NULL, push_and_assess, table) == 0);
  for (int at = 0; at < 2; at += 1) CHECK(pthread_join(threads[at], NULL) == 0);
  CHECK_OK(hairspring_observations_count(table, &readings));
  CHECK(readings == 2 * 20 * 8 * 64);
  hairspring_observations_free(table);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  a_table_is_solved_and_compared();
  files_go_there_and_back(arguments[1]);
  null_pointers_are_refused();
  wrong_sizes_and_values_are_refused();
  clocks_have_names();
  the_stopwatch_runs();
  two_threads_may_use_one_table();
  return 0;
}
