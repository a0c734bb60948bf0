/* The vectors that every language must pass: spec/vectors, from the project's root. */
#include "check.h"

#include <math.h>
#include <string.h>

#define FOLDER "spec/vectors/"

/* A line of expected.csv. */
struct expected {
  char file[64], series[64], component[64], unit[16];
  double level, value, low, high;
  unsigned below;
};

static int close_to(double value, double expected) {
  return fabs(value - expected) <= 1e-9 * fmax(fabs(expected), 1e-3);
}

static const hairspring_component *find(const hairspring_component *components, size_t count,
    const struct expected *line) {
  for (size_t at = 0; at < count; at += 1) {
    if (strcmp(components[at].series, line->series) == 0 &&
        strcmp(components[at].name, line->component) == 0) return &components[at];
  }
  return NULL;
}

static void passes(const struct expected *line) {
  char path[128];
  hairspring_observations *table = NULL;
  hairspring_assessment *assessment = NULL;
  hairspring_component components[16];
  size_t count = 0;
  snprintf(path, sizeof path, FOLDER "%s", line->file);
  CHECK_OK(hairspring_observations_read_csv(path, &table));
  CHECK_OK(hairspring_assess(table, NULL, &assessment));
  CHECK_OK(hairspring_assessment_components(assessment, components, sizeof components[0], 16,
      &count));
  CHECK(count <= 16);
  const hairspring_component *component = find(components, count, line);
  CHECK(component != NULL);
  const hairspring_estimate *estimate = strcmp(line->unit, "ns") == 0       ? &component->ns
                                        : strcmp(line->unit, "cycles") == 0 ? &component->cycles
                                                                            : &component->ticks;
  CHECK(close_to(estimate->level, line->level) && close_to(estimate->value, line->value));
  CHECK(close_to(estimate->low, line->low) && close_to(estimate->high, line->high));
  CHECK(component->below_resolution == line->below);
  hairspring_assessment_free(assessment);
  hairspring_observations_free(table);
}

int main(void) {
  FILE *file = fopen(FOLDER "expected.csv", "r");
  char text[512];
  unsigned checked_lines = 0;
  CHECK(file != NULL && fgets(text, sizeof text, file) != NULL);
  while (fgets(text, sizeof text, file) != NULL) {
    struct expected line;
    CHECK(sscanf(text, "%63[^,],%lf,%63[^,],%63[^,],%15[^,],%lf,%lf,%lf,%u", line.file, &line.level,
        line.series, line.component, line.unit,
                 &line.value, &line.low, &line.high, &line.below) == 9);
    passes(&line);
    checked_lines += 1;
  }
  fclose(file);
  CHECK(checked_lines > 12);
  return 0;
}
