/* A row that reports a failure ends the measurement with the name of its benchmark; an alternative
 * without arguments keeps its own value; wrong procedures are refused. */
#include "check.h"
#include "hairspring.h"

#include <string.h>

/* Fails if its argument is 3. */
static uint64_t fail(hairspring_read now, int64_t argument) {
  return argument == 3 ? HAIRSPRING_FAILED : now() & 0xff;
}
static const hairspring_row rows[4] =
    {{fail, 1, 0, 0}, {fail, 2, 0, 0}, {fail, 3, 0, 0}, {fail, 4, 0, 0}};

static void code_that_fails_is_named(void) {
  hairspring_series series = {sizeof series, "breaks", rows, 4, 3};
  hairspring_observations *table = NULL;
  CHECK(hairspring_measure(&series, sizeof series, 1, NULL,
      &table) == HAIRSPRING_STATUS_BAD_VALUE && table == NULL);
  CHECK(strstr(last_error(), "`breaks` failed") != NULL);
}

static void an_alternative_keeps_its_own_value(void) {
  static const struct hairspring_benchmark first = {"first", rows, 4, NULL},
      second = {"second", rows, 4, NULL};
  struct hairspring_entry both_entries[2] =
      {{.benchmark = &first}, {.benchmark = &second, .alternative = 1}};
  const char *words[2] = {"program", "--test"};
  CHECK(hairspring_run_program(2, words, both_entries, sizeof both_entries[0], 2) == 0);
  both_entries[1].arguments[0] = 3;
  CHECK(hairspring_run_program(2, words, both_entries, sizeof both_entries[0], 2) == 1);
}

static void count(void *context) { *(uint64_t *)context += 1; }

static void procedures_are_called_or_refused(void) {
  uint64_t calls = 0;
  const char *words[2] = {"program", "--test"};
  hairspring_procedure procedure =
      {.name = "count", .procedure = count, .init = count, .context = &calls};
  CHECK(hairspring_run_procedures(2, words, &procedure, sizeof procedure, 1) == 0 && calls == 2);
  CHECK(hairspring_run_procedures(2, words, &procedure, sizeof procedure - 4, 1) == 1);
  CHECK(hairspring_run_procedures(2, words, NULL, sizeof procedure, 1) == 1);
  procedure.procedure = NULL;
  CHECK(hairspring_run_procedures(2, words, &procedure, sizeof procedure, 1) == 1);
  procedure.name = NULL;
  CHECK(hairspring_run_procedures(2, words, &procedure, sizeof procedure, 1) == 1);
}

int main(void) {
  code_that_fails_is_named();
  an_alternative_keeps_its_own_value();
  procedures_are_called_or_refused();
  return 0;
}
