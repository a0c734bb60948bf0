/* Every function of the C ABI with a null pointer for each of its pointers in turn, and every sized
 * struct with sizes of 0, too small and too large: refused with a status and a text, and nothing is
 * written. */
#include "check.h"
#include "hairspring_engine.h"

#include <string.h>

#define BAD_POINTER(call)                          \
  do {                                             \
    CHECK((call) == HAIRSPRING_STATUS_BAD_POINTER); \
    CHECK(strstr(last_error(), "null pointer") != NULL); \
  } while (0)

/* The call with each of these sizes in the struct; then the struct has its own size again. */
#define BAD_SIZES(type, variable, call)                                                       \
  do {                                                                                        \
    const size_t sizes[] = {0, 1, sizeof(type) - 1, sizeof(type) + 1, 8192, SIZE_MAX};        \
    for (size_t at_size = 0; at_size < sizeof sizes / sizeof sizes[0]; at_size += 1) {        \
      (variable).size = sizes[at_size];                                                       \
      CHECK((call) == HAIRSPRING_STATUS_WRONG_SIZE && strstr(last_error(), "bytes") != NULL); \
      CHECK((variable).size == sizes[at_size]);                                               \
    }                                                                                         \
    (variable).size = sizeof(type);                                                           \
  } while (0)

#define BAD_ELEMENT_SIZES(type, call)                                                     \
  do {                                                                                    \
    const size_t sizes[] = {0, 1, sizeof(type) - 1, sizeof(type) + 1, SIZE_MAX};          \
    for (size_t at_size = 0; at_size < sizeof sizes / sizeof sizes[0]; at_size += 1) {    \
      size_t element_size = sizes[at_size];                                               \
      CHECK((call) == HAIRSPRING_STATUS_WRONG_SIZE);                                      \
    }                                                                                     \
  } while (0)

static hairspring_observations *a_table(void) {
  const char *names[] = {"body"};
  hairspring_observations *table = NULL;
  CHECK_OK(hairspring_observations_new(names, 1, &table));
  for (unsigned copies = 1; copies <= 8; copies += 1) {
    double count = copies;
    uint32_t row = 0;
    CHECK_OK(hairspring_observations_row(table, NULL, &count, 1, &row));
    for (unsigned round = 0; round < 40; round += 1)
      CHECK_OK(hairspring_observations_push(table, row, round, 10.0 * count + round % 5));
  }
  return table;
}

static void tables(const char *path) {
  const char *names[] = {"body"}, *nothing[] = {NULL};
  hairspring_observations *table = NULL, *other_table = NULL;
  double count = 1.0;
  uint32_t row = 0;
  size_t number = 0;
  BAD_POINTER(hairspring_observations_new(NULL, 1, &table));
  BAD_POINTER(hairspring_observations_new(nothing, 1, &table));
  BAD_POINTER(hairspring_observations_new(names, 1, NULL));
  CHECK(table == NULL);
  table = a_table();
  hairspring_table_clock clock = HAIRSPRING_SIZED(hairspring_table_clock);
  BAD_POINTER(hairspring_observations_set_clock(NULL, "clock", &clock));
  BAD_POINTER(hairspring_observations_set_clock(table, "clock", NULL));
  CHECK_OK(hairspring_observations_set_clock(table, NULL, &clock));
  BAD_SIZES(hairspring_table_clock, clock,
      hairspring_observations_set_clock(table, "clock", &clock));
  BAD_POINTER(hairspring_observations_row(NULL, "main", &count, 1, &row));
  BAD_POINTER(hairspring_observations_row(table, "main", NULL, 1, &row));
  BAD_POINTER(hairspring_observations_row(table, "main", &count, 1, NULL));
  CHECK(hairspring_observations_row(table, "main", &count, 0, &row) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_observations_row(table, "main", &count, SIZE_MAX,
      &row) == HAIRSPRING_STATUS_BAD_VALUE);
  BAD_POINTER(hairspring_observations_push(NULL, 0, 0, 1.0));
  BAD_POINTER(hairspring_observations_count(NULL, &number));
  BAD_POINTER(hairspring_observations_count(table, NULL));
  BAD_POINTER(hairspring_observations_read_csv(NULL, &other_table));
  CHECK_OK(hairspring_observations_write_csv(table, path));
  BAD_POINTER(hairspring_observations_read_csv(path, NULL));
  BAD_POINTER(hairspring_observations_parse_csv(NULL, 4, &other_table));
  BAD_POINTER(hairspring_observations_parse_csv(
      (const unsigned char *)"body,ticks\n1,2\n2,3\n3,4\n", 23, NULL));
  CHECK(hairspring_observations_parse_csv((const unsigned char *)"x", SIZE_MAX,
      &other_table) == HAIRSPRING_STATUS_BAD_VALUE);
  BAD_POINTER(hairspring_observations_write_csv(NULL, "x"));
  BAD_POINTER(hairspring_observations_write_csv(table, NULL));
  CHECK(other_table == NULL);
  hairspring_observations_free(table);
}

static void assessments(void) {
  hairspring_observations *table = a_table();
  hairspring_assessment *assessment = NULL;
  hairspring_question question = HAIRSPRING_SIZED(hairspring_question);
  size_t number = 77;
  BAD_POINTER(hairspring_assess(NULL, &question, &assessment));
  BAD_POINTER(hairspring_assess(table, &question, NULL));
  BAD_SIZES(hairspring_question, question, hairspring_assess(table, &question, &assessment));
  CHECK(assessment == NULL);
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  hairspring_component components[4];
  hairspring_finding findings[4];
  hairspring_comparison comparisons[4];
  BAD_POINTER(hairspring_assessment_components(NULL, components, sizeof components[0], 4, &number));
  BAD_POINTER(hairspring_assessment_components(assessment, NULL, sizeof components[0], 4, &number));
  BAD_POINTER(hairspring_assessment_components(assessment, components, sizeof components[0], 4,
      NULL));
  BAD_ELEMENT_SIZES(hairspring_component,
      hairspring_assessment_components(assessment, components, element_size, 4, &number));
  BAD_POINTER(hairspring_assessment_findings(NULL, findings, sizeof findings[0], 4, &number));
  BAD_POINTER(hairspring_assessment_findings(assessment, findings, sizeof findings[0], 4, NULL));
  BAD_ELEMENT_SIZES(hairspring_finding,
      hairspring_assessment_findings(assessment, findings, element_size, 4, &number));
  BAD_POINTER(hairspring_assessment_comparisons(NULL, comparisons, sizeof comparisons[0], 4,
      &number));
  BAD_POINTER(hairspring_assessment_comparisons(assessment, comparisons, sizeof comparisons[0], 4,
      NULL));
  BAD_ELEMENT_SIZES(hairspring_comparison,
      hairspring_assessment_comparisons(assessment, comparisons, element_size, 4, &number));
  CHECK(number == 77);
  CHECK_OK(hairspring_assessment_components(assessment, NULL, sizeof components[0], 0, &number));
  CHECK(number == 2);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
}

static void clocks(void) {
  hairspring_clock clock = HAIRSPRING_SIZED(hairspring_clock);
  BAD_POINTER(hairspring_clock_count(NULL));
  BAD_POINTER(hairspring_clock_at(0, NULL));
  BAD_POINTER(hairspring_clock_find(NULL, NULL));
  BAD_SIZES(hairspring_clock, clock, hairspring_clock_at(0, &clock));
  BAD_SIZES(hairspring_clock, clock, hairspring_clock_find(NULL, &clock));
  CHECK(hairspring_clock_at(SIZE_MAX, &clock) == HAIRSPRING_STATUS_BAD_VALUE);
}

static void stopwatches(void) {
  hairspring_stopwatch *stopwatch = NULL;
  hairspring_span span = HAIRSPRING_SIZED(hairspring_span);
  hairspring_elapsed elapsed = HAIRSPRING_SIZED(hairspring_elapsed);
  BAD_POINTER(hairspring_stopwatch_new(NULL, NULL));
  CHECK(hairspring_stopwatch_new("sundial", &stopwatch) == HAIRSPRING_STATUS_CLOCK_UNAVAILABLE &&
      stopwatch == NULL);
  CHECK_OK(hairspring_stopwatch_new(NULL, &stopwatch));
  BAD_POINTER(hairspring_stopwatch_start(NULL));
  CHECK_OK(hairspring_stopwatch_start(stopwatch));
  BAD_POINTER(hairspring_stopwatch_lap(NULL, &span));
  BAD_POINTER(hairspring_stopwatch_lap(stopwatch, NULL));
  BAD_SIZES(hairspring_span, span, hairspring_stopwatch_lap(stopwatch, &span));
  BAD_POINTER(hairspring_stopwatch_stop(NULL, &span));
  BAD_POINTER(hairspring_stopwatch_stop(stopwatch, NULL));
  BAD_SIZES(hairspring_span, span, hairspring_stopwatch_stop(stopwatch, &span));
  /* Refused calls had no effect on the stopwatch. */
  CHECK_OK(hairspring_stopwatch_stop(stopwatch, &span));
  CHECK(span.pairs == 1 && span.ticks > 0);
  BAD_POINTER(hairspring_stopwatch_total(NULL, &span));
  BAD_POINTER(hairspring_stopwatch_total(stopwatch, NULL));
  BAD_SIZES(hairspring_span, span, hairspring_stopwatch_total(stopwatch, &span));
  BAD_POINTER(hairspring_stopwatch_elapsed(NULL, &span, 0.0, &elapsed));
  BAD_POINTER(hairspring_stopwatch_elapsed(stopwatch, NULL, 0.0, &elapsed));
  BAD_POINTER(hairspring_stopwatch_elapsed(stopwatch, &span, 0.0, NULL));
  BAD_SIZES(hairspring_span, span, hairspring_stopwatch_elapsed(stopwatch, &span, 0.0, &elapsed));
  BAD_SIZES(hairspring_elapsed, elapsed,
      hairspring_stopwatch_elapsed(stopwatch, &span, 0.0, &elapsed));
  hairspring_stopwatch_free(stopwatch);
}

static void measurements(void) {
  hairspring_row row = {NULL, 1, 0, 0};
  hairspring_series series = {sizeof series, "a", &row, 1, 0};
  hairspring_plan plan = HAIRSPRING_SIZED(hairspring_plan);
  hairspring_observations *table = NULL;
  BAD_POINTER(hairspring_measure(NULL, sizeof series, 1, NULL, &table));
  BAD_ELEMENT_SIZES(hairspring_series, hairspring_measure(&series, element_size, 1, NULL, &table));
  BAD_SIZES(hairspring_series, series, hairspring_measure(&series, sizeof series, 1, NULL, &table));
  BAD_SIZES(hairspring_plan, plan, hairspring_measure(&series, sizeof series, 1, &plan, &table));
  CHECK(hairspring_measure(&series, sizeof series, 0, NULL, &table) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_measure(&series, sizeof series, SIZE_MAX, NULL,
      &table) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(table == NULL);
}

static void trials(void) {
  hairspring_trials *experiments = NULL;
  hairspring_trials_plan plan = HAIRSPRING_SIZED(hairspring_trials_plan);
  hairspring_trip_time trip_time = HAIRSPRING_SIZED(hairspring_trip_time);
  uint64_t (*now)(void) = NULL;
  uint64_t trips = 9;
  BAD_POINTER(hairspring_trials_new(&plan, NULL, &experiments));
  BAD_POINTER(hairspring_trials_new(&plan, &now, NULL));
  BAD_SIZES(hairspring_trials_plan, plan, hairspring_trials_new(&plan, &now, &experiments));
  plan.experiments = 1000000;
  CHECK(hairspring_trials_new(&plan, &now, &experiments) == HAIRSPRING_STATUS_BAD_VALUE &&
      experiments == NULL && now == NULL);
  CHECK_OK(hairspring_trials_new(NULL, &now, &experiments));
  CHECK(now != NULL &&
      hairspring_trials_result(experiments, 0.0, &trip_time) == HAIRSPRING_STATUS_REFUSED);
  BAD_POINTER(hairspring_trials_next(NULL, 0, 0, &trips));
  BAD_POINTER(hairspring_trials_next(experiments, 0, 0, NULL));
  BAD_POINTER(hairspring_trials_result(NULL, 0.0, &trip_time));
  BAD_POINTER(hairspring_trials_result(experiments, 0.0, NULL));
  BAD_SIZES(hairspring_trip_time, trip_time,
      hairspring_trials_result(experiments, 0.0, &trip_time));
  CHECK_OK(hairspring_trials_next(experiments, 0, 0, &trips));
  CHECK(trips == 1 && hairspring_trials_next(experiments, 5, 2,
      &trips) == HAIRSPRING_STATUS_REFUSED && trips == 0);
  hairspring_trials_free(experiments);
  hairspring_trials_free(NULL);
  BAD_POINTER(hairspring_lmbench_begin(0.0, 0, NULL, NULL, &experiments));
  BAD_POINTER(hairspring_lmbench_begin(0.0, 0, NULL, &now, NULL));
  BAD_POINTER(hairspring_lmbench_end(NULL, 0));
}

static void pointers_to_the_middle(void) {
  _Alignas(16) char bytes[512] = {0};
  void *odd = bytes + 1;
  size_t number = 0;
  uint64_t trips = 0;
  CHECK(hairspring_stopwatch_start(odd) == HAIRSPRING_STATUS_BAD_POINTER &&
      strstr(last_error(), "not aligned") != NULL);
  CHECK(hairspring_stopwatch_stop(odd, odd) == HAIRSPRING_STATUS_BAD_POINTER);
  CHECK(hairspring_observations_count(odd, &number) == HAIRSPRING_STATUS_BAD_POINTER);
  CHECK(hairspring_clock_at(0, odd) == HAIRSPRING_STATUS_BAD_POINTER &&
      hairspring_clock_count(odd) == HAIRSPRING_STATUS_BAD_POINTER);
  CHECK(hairspring_trials_next(odd, 0, 0, &trips) == HAIRSPRING_STATUS_BAD_POINTER);
  CHECK(hairspring_assess(odd, NULL, odd) == HAIRSPRING_STATUS_BAD_POINTER);
}

static void texts(void) {
  char few[4] = "xyz";
  CHECK(hairspring_last_error(NULL, 100) > 0 && hairspring_last_error(few, 0) > 0 && few[0] == 'x');
  CHECK(hairspring_last_error(few, 1) > 0 && few[0] == 0 && few[1] == 'y');
  CHECK(hairspring_status_name(INT32_MIN) != NULL && hairspring_status_name(INT32_MAX) != NULL);
  CHECK(strcmp(hairspring_status_name(0), "ok") == 0 && hairspring_version()[0] != 0);
}

int main(int count, char **arguments) {
  CHECK(count == 2 && arguments[1] != NULL);
  tables(arguments[1]);
  assessments();
  clocks();
  stopwatches();
  measurements();
  trials();
  pointers_to_the_middle();
  texts();
  return 0;
}
