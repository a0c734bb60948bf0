/* Benchmarks run by the engine: the counts of the rows reach the table with any names; wrong
 * arguments are refused. */
#include "check.h"
#include "hairspring.h"

#include <string.h>

HAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c;
    HAIRSPRING_OPAQUE(x));
HAIRSPRING_BENCHMARK(multiply_twice, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c;
    HAIRSPRING_OPAQUE(x); x *= c;
                     HAIRSPRING_OPAQUE(x));
HAIRSPRING_BENCHMARK_INIT(both, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)),
    (x *= c; HAIRSPRING_OPAQUE(x)), x *= c;
                          HAIRSPRING_OPAQUE(x));

/* As if it were compiled with -O0. */
#undef HAIRSPRING_COMPILED
#define HAIRSPRING_COMPILED HAIRSPRING_UNOPTIMISED
HAIRSPRING_BENCHMARK_INIT(unoptimised, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)),
    (x *= c; HAIRSPRING_OPAQUE(x)), x *= c;
                          HAIRSPRING_OPAQUE(x));

static hairspring_series series_of(const struct hairspring_benchmark *benchmark, const char *name) {
  return (hairspring_series){sizeof(hairspring_series), name, benchmark->rows, benchmark->row_count,
      0};
}

static void odd_names_come_back_as_they_are(const char *path) {
  const char *odd = "\"a\", b/c:1\t#;<&>%s %n \xc3\xa9";
  hairspring_series series[2] = {series_of(&multiply, odd), series_of(&multiply_twice, "twice")};
  hairspring_plan plan = HAIRSPRING_SIZED(hairspring_plan);
  hairspring_observations *table = NULL, *again = NULL;
  hairspring_assessment *assessment = NULL;
  hairspring_component parts[4];
  hairspring_comparison comparison;
  size_t count = 0;
  plan.milliseconds = 30;
  CHECK_OK(hairspring_measure(series, sizeof series[0], 2, &plan, &table));
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK_OK(hairspring_assessment_components(assessment, parts, sizeof parts[0], 4, &count));
  CHECK(count == 4 && strcmp(parts[0].series, odd) == 0 && strcmp(parts[2].series, "twice") == 0 &&
      parts[0].ns.level > 0.9);
  CHECK_OK(hairspring_assessment_comparisons(assessment, &comparison, sizeof comparison, 1,
      &count));
  CHECK(count == 1 && comparison.verdict != HAIRSPRING_VERDICT_FASTER);
  CHECK_OK(hairspring_observations_write_csv(table, path));
  CHECK_OK(hairspring_observations_read_csv(path, &again));
  hairspring_assessment_free(assessment);
  CHECK_OK(hairspring_assess(again, NULL, &assessment));
  CHECK_OK(hairspring_assessment_components(assessment, parts, sizeof parts[0], 4, &count));
  CHECK(count == 4 && strcmp(parts[0].series, odd) == 0);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(again);
  hairspring_observations_free(table);
}

static void an_init_is_a_component_of_its_own(void) {
  hairspring_series series = series_of(&both, "both");
  hairspring_observations *table = NULL;
  hairspring_assessment *assessment = NULL;
  hairspring_component parts[3];
  size_t count = 0;
  CHECK_OK(hairspring_measure(&series, sizeof series, 1, NULL, &table));
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK_OK(hairspring_assessment_components(assessment, parts, sizeof parts[0], 3, &count));
  CHECK(count == 3 && strcmp(parts[0].name, "body") == 0 && strcmp(parts[1].name, "init") == 0);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
}

/* Whether a benchmark gets the finding. */
static int is_called_unoptimised(const struct hairspring_benchmark *benchmark) {
  hairspring_series series = series_of(benchmark, "code");
  hairspring_plan plan = HAIRSPRING_SIZED(hairspring_plan);
  hairspring_observations *table = NULL;
  hairspring_assessment *assessment = NULL;
  hairspring_finding findings[32];
  size_t count = 0;
  int called = 0;
  plan.milliseconds = 30;
  CHECK_OK(hairspring_measure(&series, sizeof series, 1, &plan, &table));
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK_OK(hairspring_assessment_findings(assessment, findings, sizeof findings[0], 32, &count));
  for (size_t at = 0; at < count && at < 32; at += 1)
    called |= strstr(findings[at].message, "compiled without optimisation") != NULL;
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
  return called;
}

static void code_without_optimisation_is_reported(void) {
  CHECK(is_called_unoptimised(&unoptimised));
#ifdef __OPTIMIZE__
  CHECK(!is_called_unoptimised(&both));
#endif
}

static uint64_t run_nothing(uint64_t (*now)(void), int64_t argument) {
  return now() + (uint64_t)argument;
}

static void what_is_wrong_is_refused(void) {
  hairspring_series good = series_of(&multiply, "good"), series = good;
  hairspring_plan plan = HAIRSPRING_SIZED(hairspring_plan);
  hairspring_observations *table = NULL;
  CHECK(hairspring_measure(NULL, sizeof series, 1, NULL, &table) == HAIRSPRING_STATUS_BAD_POINTER);
  CHECK(hairspring_measure(&series, sizeof series, 0, NULL, &table) == HAIRSPRING_STATUS_BAD_VALUE);
  CHECK(hairspring_measure(&series, sizeof series - 8, 1, NULL,
      &table) == HAIRSPRING_STATUS_WRONG_SIZE);
  series.size = 1;
  CHECK(hairspring_measure(&series, sizeof series, 1, NULL,
      &table) == HAIRSPRING_STATUS_WRONG_SIZE);
  series = good, series.rows = NULL;
  CHECK(hairspring_measure(&series, sizeof series, 1, NULL,
      &table) == HAIRSPRING_STATUS_BAD_POINTER);
  series = good, series.name = NULL;
  CHECK(hairspring_measure(&series, sizeof series, 1, NULL,
      &table) == HAIRSPRING_STATUS_BAD_POINTER);
  series = good, series.row_count = 3;
  CHECK(hairspring_measure(&series, sizeof series, 1, NULL, &table) == HAIRSPRING_STATUS_BAD_VALUE);
  static const hairspring_row nothing[4] =
      {{NULL, 1, 0, 0}, {NULL, 2, 0, 0}, {NULL, 3, 0, 0}, {NULL, 4, 0, 0}};
  series = good, series.rows = nothing, series.row_count = 4;
  CHECK(hairspring_measure(&series, sizeof series, 1, NULL,
      &table) == HAIRSPRING_STATUS_BAD_POINTER);
  plan.clock = "sundial";
  CHECK(hairspring_measure(&good, sizeof good, 1, &plan,
      &table) == HAIRSPRING_STATUS_CLOCK_UNAVAILABLE);
  plan.size = 0;
  CHECK(hairspring_measure(&good, sizeof good, 1, &plan, &table) == HAIRSPRING_STATUS_WRONG_SIZE);
  CHECK(table == NULL);
  plan.size = sizeof plan, plan.clock = NULL, plan.milliseconds = 30;
  series = good;
  static const hairspring_row unordered[4] = {{run_nothing, 1, 0, 9}, {run_nothing, 2, 0, 9},
      {run_nothing, 3, 0, 9}, {run_nothing, 4, 0, 9}};
  series.rows = unordered, series.row_count = 4;
  CHECK(hairspring_measure(&series, sizeof series, 1, &plan,
      &table) == HAIRSPRING_STATUS_BAD_VALUE);
}

/* Duplicate, empty and blank names are replaced. */
static void names_that_are_no_names_get_one(void) {
  const hairspring_series same[4] = {series_of(&multiply, "good"), series_of(&multiply, "good"),
      series_of(&multiply, ""), series_of(&multiply, " \n")};
  hairspring_plan plan = HAIRSPRING_SIZED(hairspring_plan);
  hairspring_observations *table = NULL;
  hairspring_assessment *assessment = NULL;
  hairspring_component parts[8];
  size_t count = 0;
  plan.milliseconds = 30;
  CHECK_OK(hairspring_measure(same, sizeof same[0], 4, &plan, &table));
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK_OK(hairspring_assessment_components(assessment, parts, sizeof parts[0], 8, &count));
  CHECK(count == 8 && strcmp(parts[2].series, "good (2)") == 0 &&
      strcmp(parts[6].series, "unnamed (2)") == 0);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
}

/* Code that is said to run threads: the thread is not bound, and a finding says so. */
static void threads_can_be_declared(void) {
  hairspring_series series = series_of(&multiply, "multiply");
  hairspring_plan plan = HAIRSPRING_SIZED(hairspring_plan);
  hairspring_observations *table = NULL;
  hairspring_assessment *assessment = NULL;
  hairspring_component parts[2];
  hairspring_finding findings[16];
  size_t count = 0, at, unbound = 0;
  plan.milliseconds = 30, plan.threads = 1;
  CHECK_OK(hairspring_measure(&series, sizeof series, 1, &plan, &table));
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK_OK(hairspring_assessment_components(assessment, parts, sizeof parts[0], 2, &count));
  CHECK(count == 2 && parts[0].ns.level > 0.9 && parts[0].cycles.level == 0);
  CHECK_OK(hairspring_assessment_findings(assessment, findings, sizeof findings[0], 16, &count));
  for (at = 0; at < count && at < 16; at++)
    unbound += strstr(findings[at].message, "neither bound") != NULL;
  CHECK(unbound == 1);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  odd_names_come_back_as_they_are(arguments[1]);
  an_init_is_a_component_of_its_own();
  code_without_optimisation_is_reported();
  what_is_wrong_is_refused();
  names_that_are_no_names_get_one();
  threads_can_be_declared();
  return 0;
}
