/* Programs that were compiled with another version of the header: shorter and longer structs work,
 * and no byte beyond their end is accessed. Each struct is at the end of a page, before one that
 * can be neither read nor written. */
#define _DEFAULT_SOURCE
#include "check.h"
#include "hairspring_engine.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy of the first `size` bytes of a struct that has `known_bytes` bytes, followed by zeros, at
 * the end of a page. */
static void *at_the_end(const void *from, size_t known_bytes, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *pages =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && size <= page && mprotect(pages + page, page, PROT_NONE) == 0);
  unsigned char *start = pages + page - size;
  memcpy(start, from, size < known_bytes ? size : known_bytes);
  return start;
}

static void give_back(const void *start, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  CHECK(munmap((unsigned char *)(uintptr_t)start + size - page, 2 * page) == 0);
}

/* The older headers: the same structs without the fields that were added last. */
struct old_table_clock { size_t size; double rate_hz; };
struct old_question { size_t size; double level; };
struct old_component { size_t size; const char *series, *name; hairspring_kind kind;
    uint32_t below_resolution; double bound; hairspring_estimate ticks; };
struct old_clock { size_t size; const char *name, *description; uint64_t (*read)(void); };
struct old_elapsed { size_t size; hairspring_estimate ns; uint32_t below_resolution;
    double bound_ns; };
struct old_series { size_t size; const char *name; const hairspring_row *rows; size_t row_count; };
struct old_plan { size_t size; const char *clock; };
struct old_procedure { const char *name, *argument_name; int64_t argument;
    void (*procedure)(void *context); };

/* A newer header: the current struct with one more field. */
struct new_question { hairspring_question now; uint64_t added; };
struct new_component { hairspring_component now; uint64_t added; };

static hairspring_observations *new_table(void) {
  const char *names[] = {"body"};
  hairspring_observations *table = NULL;
  CHECK_OK(hairspring_observations_new(names, 1, &table));
  const struct old_table_clock clock = {sizeof clock, 2e9};
  hairspring_table_clock *given_clock = at_the_end(&clock, sizeof clock, sizeof clock);
  CHECK_OK(hairspring_observations_set_clock(table, "invented", given_clock));
  give_back(given_clock, sizeof clock);
  for (unsigned copies = 1; copies <= 8; copies += 1) {
    double count = copies;
    uint32_t row = 0;
    CHECK_OK(hairspring_observations_row(table, NULL, &count, 1, &row));
    for (unsigned round = 0; round < 64; round += 1) {
      double wobble = (double)((round * 7 + copies * 13) % 11) - 5.0;
      CHECK_OK(hairspring_observations_push(table, row, round, 100.0 * count + 40.0 + wobble));
    }
  }
  return table;
}

/* Assesses with the question's first `size` bytes, which are at the end of a page. */
static hairspring_status assess(const void *question, size_t known_bytes, size_t size,
    hairspring_assessment **assessment) {
  hairspring_observations *table = new_table();
  hairspring_question *given_question = at_the_end(question, known_bytes, size);
  hairspring_status status = hairspring_assess(table, given_question, assessment);
  give_back(given_question, size);
  hairspring_observations_free(table);
  return status;
}

static void a_question_is_read_to_its_end(void) {
  const struct old_question old = {sizeof old, 0.99};
  hairspring_assessment *assessment = NULL;
  CHECK_OK(assess(&old, sizeof old, sizeof old, &assessment));
  /* Elements of an older and of a newer header have their own size in an array. */
  struct old_component few[2];
  memset(few, 0x55, sizeof few);
  hairspring_component *components = at_the_end(few, sizeof few, sizeof few);
  size_t count = 0;
  CHECK_OK(hairspring_assessment_components(assessment, components, sizeof few[0], 2, &count));
  memcpy(few, components, sizeof few);
  give_back(components, sizeof few);
  CHECK(count == 2 && strcmp(few[0].name, "body") == 0 && few[1].kind == HAIRSPRING_KIND_OVERHEAD);
  CHECK(few[0].size == sizeof few[0] && fabs(few[0].ticks.value - 100.0) < 1.0 &&
      fabs(few[0].ticks.level - 0.99) < 1e-9);
  struct new_component many[2];
  memset(many, 0x55, sizeof many);
  CHECK_OK(hairspring_assessment_components(assessment, &many[0].now, sizeof many[0], 2, &count));
  CHECK(many[0].added == 0 && many[1].added == 0 && many[1].now.kind == HAIRSPRING_KIND_OVERHEAD);
  CHECK(many[0].now.size == sizeof many[0] && fabs(many[0].now.ns.value - 50.0) < 1.0);
  hairspring_assessment_free(assessment);
}

static void a_field_that_is_not_known_must_be_0(void) {
  struct new_question question = {.now = {.size = sizeof question, .level = 0.99}, .added = 0};
  hairspring_assessment *assessment = NULL;
  CHECK_OK(assess(&question, sizeof question, sizeof question, &assessment));
  hairspring_assessment_free(assessment), assessment = NULL;
  question.added = 1;
  CHECK(assess(&question, sizeof question, sizeof question,
      &assessment) == HAIRSPRING_STATUS_WRONG_SIZE && assessment == NULL);
  CHECK(strstr(last_error(), "a field is set that this library does not know") != NULL);
}

static void results_are_written_to_their_end(void) {
  struct old_clock clock = {.size = sizeof clock, .name = NULL};
  hairspring_clock *found_clock = at_the_end(&clock, sizeof clock, sizeof clock);
  CHECK_OK(hairspring_clock_find("monotonic", found_clock));
  memcpy(&clock, found_clock, sizeof clock);
  give_back(found_clock, sizeof clock);
  CHECK(clock.size == sizeof clock && strcmp(clock.name, "monotonic") == 0 && clock.read() > 0);

  hairspring_stopwatch *stopwatch = NULL;
  hairspring_span span = HAIRSPRING_SIZED(hairspring_span);
  CHECK_OK(hairspring_stopwatch_new(NULL, &stopwatch));
  CHECK_OK(hairspring_stopwatch_start(stopwatch));
  CHECK_OK(hairspring_stopwatch_stop(stopwatch, &span));
  struct old_elapsed elapsed = {.size = sizeof elapsed, .below_resolution = 9};
  hairspring_elapsed *room = at_the_end(&elapsed, sizeof elapsed, sizeof elapsed);
  CHECK_OK(hairspring_stopwatch_elapsed(stopwatch, &span, 0, room));
  memcpy(&elapsed, room, sizeof elapsed);
  give_back(room, sizeof elapsed);
  CHECK(elapsed.size == sizeof elapsed && elapsed.below_resolution <= 1 &&
      elapsed.ns.low <= elapsed.ns.high);
  hairspring_stopwatch_free(stopwatch);
}

static uint64_t add_up(uint64_t (*now)(void), int64_t copies) {
  uint64_t begin = now();
  for (volatile int64_t at = 0; at < copies; at += 1) {}
  return now() - begin;
}

static uint64_t argument_is_0(uint64_t (*now)(void), int64_t argument) {
  return argument == 0 ? add_up(now, 100) : HAIRSPRING_FAILED;
}

static void benchmarks_have_their_own_distance(void) {
  static const hairspring_row rows[4] = {{argument_is_0, 1, 0, 0}, {argument_is_0, 2, 0, 0},
      {argument_is_0, 3, 0, 0}, {argument_is_0, 4, 0, 0}};
  const struct old_series series[2] =
      {{sizeof series[0], "a", rows, 4}, {sizeof series[0], "b", rows, 4}};
  const struct old_plan plan = {sizeof plan, "monotonic"};
  hairspring_series *given_series = at_the_end(series, sizeof series, sizeof series);
  hairspring_plan *how = at_the_end(&plan, sizeof plan, sizeof plan);
  hairspring_observations *table = NULL;
  CHECK_OK(hairspring_measure(given_series, sizeof series[0], 2, how, &table));
  give_back(given_series, sizeof series);
  give_back(how, sizeof plan);
  hairspring_observations_free(table);
}

static void count_call(void *context) { CHECK(context == NULL); }

static void procedures_have_their_own_distance(void) {
  const struct old_procedure old[2] = {{"a", NULL, 0, count_call}, {"b", NULL, 0, count_call}};
  const char *words[2] = {"program", "--test"};
  hairspring_procedure *given_procedures = at_the_end(old, sizeof old, sizeof old);
  CHECK(hairspring_run_procedures(2, words, given_procedures, sizeof old[0], 2) == 0);
  give_back(given_procedures, sizeof old);
}

int main(void) {
  a_question_is_read_to_its_end();
  a_field_that_is_not_known_must_be_0();
  results_are_written_to_their_end();
  benchmarks_have_their_own_distance();
  procedures_have_their_own_distance();
  return 0;
}
