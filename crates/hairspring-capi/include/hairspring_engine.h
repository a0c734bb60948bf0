/* The C ABI of Hairspring's engine. Made by cbindgen from crates/hairspring-capi/src: do not edit.
 *
 * Every call returns a status; hairspring_last_error has the text of what went wrong in the calling thread. Handles may
 * be used by several threads, and are given back once, with the _free function of their kind. Structs begin with their
 * size, which the caller sets (HAIRSPRING_SIZED): one of another size is refused. */

#ifndef HAIRSPRING_ENGINE_H
#define HAIRSPRING_ENGINE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Arguments of a benchmark at the most.
 */
#define HAIRSPRING_MOST_ARGUMENTS 16

/**
 * What a row returns in place of ticks where its code failed: the program ends with a message and status 1. A clock that
 * was set back by exactly one tick between two reads says the same.
 */
#define HAIRSPRING_FAILED UINT64_MAX

/**
 * What came of a call.
 */
typedef enum hairspring_status {
  /**
   * It is done.
   */
  HAIRSPRING_STATUS_OK = 0,
  /**
   * A pointer is null that must not be, or not aligned.
   */
  HAIRSPRING_STATUS_BAD_POINTER = 1,
  /**
   * A struct has another size than this library's.
   */
  HAIRSPRING_STATUS_WRONG_SIZE = 2,
  /**
   * An argument is out of its range, or no UTF-8 text.
   */
  HAIRSPRING_STATUS_BAD_VALUE = 3,
  /**
   * The observations cannot be used.
   */
  HAIRSPRING_STATUS_BAD_OBSERVATIONS = 4,
  /**
   * Too few rows for the number of unknowns.
   */
  HAIRSPRING_STATUS_TOO_FEW_ROWS = 5,
  /**
   * No such clock here, or it cannot be used.
   */
  HAIRSPRING_STATUS_CLOCK_UNAVAILABLE = 6,
  /**
   * The operating system or the state of the handle does not allow it.
   */
  HAIRSPRING_STATUS_REFUSED = 7,
  /**
   * No number of trips of a loop fills a timed interval.
   */
  HAIRSPRING_STATUS_LOOP_TOO_SHORT = 8,
  /**
   * A file cannot be read or written.
   */
  HAIRSPRING_STATUS_INPUT_OUTPUT = 9,
  /**
   * The library failed within itself; the handle may still be given back.
   */
  HAIRSPRING_STATUS_INTERNAL = 10,
} hairspring_status;

/**
 * What an estimate is of.
 */
typedef enum hairspring_kind {
  /**
   * A component, or a combination that the design cannot split.
   */
  HAIRSPRING_KIND_COMPONENT = 0,
  /**
   * What all rows have in common.
   */
  HAIRSPRING_KIND_OVERHEAD = 1,
} hairspring_kind;

/**
 * How heavy a doubt is.
 */
typedef enum hairspring_severity {
  /**
   * Worth knowing.
   */
  HAIRSPRING_SEVERITY_NOTE = 0,
  /**
   * The result may be off.
   */
  HAIRSPRING_SEVERITY_WARNING = 1,
  /**
   * The result must not be trusted.
   */
  HAIRSPRING_SEVERITY_UNTRUSTED = 2,
} hairspring_severity;

/**
 * What a comparison says.
 */
typedef enum hairspring_verdict {
  /**
   * `a` takes less time.
   */
  HAIRSPRING_VERDICT_FASTER = 0,
  /**
   * `a` takes more time.
   */
  HAIRSPRING_VERDICT_SLOWER = 1,
  /**
   * The interval contains 1 and is narrow.
   */
  HAIRSPRING_VERDICT_NO_DIFFERENCE = 2,
  /**
   * The interval contains 1 and is wide.
   */
  HAIRSPRING_VERDICT_UNDECIDED = 3,
} hairspring_verdict;

/**
 * All that can be said of a table. It never changes, so that threads may share it.
 */
typedef struct hairspring_assessment hairspring_assessment;

/**
 * A table of observations.
 */
typedef struct hairspring_observations hairspring_observations;

/**
 * A stopwatch.
 */
typedef struct hairspring_stopwatch hairspring_stopwatch;

/**
 * What is asked of an assessment.
 */
typedef struct hairspring_question {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Confidence level of all intervals, 0.5 to 0.9999; 0 is 0.95.
   */
  double level;
  /**
   * Precision asked for, as a share of the first component; 0 asks for none.
   */
  double precision;
  /**
   * 1 where all rows must be used, 0 where rows off the line may be left out.
   */
  uint32_t keep_all_rows;
} hairspring_question;

/**
 * A value with its confidence interval.
 */
typedef struct hairspring_estimate {
  /**
   * The most likely value.
   */
  double value;
  /**
   * Lower end of the interval.
   */
  double low;
  /**
   * Upper end of the interval.
   */
  double high;
  /**
   * Confidence level, as 0.95; 0 where the estimate cannot be had, and then all is 0.
   */
  double level;
} hairspring_estimate;

/**
 * The time of one component of one series. The texts live as long as the assessment.
 */
typedef struct hairspring_component {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Name of the series.
   */
  const char *series;
  /**
   * Name of the component, the combination spelled out, or `overhead`.
   */
  const char *name;
  /**
   * What it is.
   */
  enum hairspring_kind kind;
  /**
   * 1 where the time cannot be told from zero, and `bound` is the most that it can be.
   */
  uint32_t below_resolution;
  /**
   * The bound, in nanoseconds where the clock's rate is known, else in ticks.
   */
  double bound;
  /**
   * In the unit of the readings.
   */
  struct hairspring_estimate ticks;
  /**
   * In nanoseconds, where the clock's rate is known.
   */
  struct hairspring_estimate ns;
  /**
   * In core cycles, where a reference chain ran in the same rounds.
   */
  struct hairspring_estimate cycles;
} hairspring_component;

/**
 * A doubt about a result. The texts live as long as the assessment.
 */
typedef struct hairspring_finding {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * The series that it is about.
   */
  const char *series;
  /**
   * How heavy it is.
   */
  enum hairspring_severity severity;
  /**
   * What was found.
   */
  const char *message;
  /**
   * What to do about it.
   */
  const char *remedy;
} hairspring_finding;

/**
 * Two series compared by their first component. The texts live as long as the assessment.
 */
typedef struct hairspring_comparison {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * The series compared ...
   */
  const char *a;
  /**
   * ... and the one it is compared with, the first of the table.
   */
  const char *b;
  /**
   * Time of `a` over time of `b`.
   */
  struct hairspring_estimate ratio;
  /**
   * What the interval says.
   */
  enum hairspring_verdict verdict;
} hairspring_comparison;

/**
 * A clock of this machine. The texts live as long as the program.
 */
typedef struct hairspring_clock {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Name by which it is asked for.
   */
  const char *name;
  /**
   * What it is, in a sentence.
   */
  const char *description;
  /**
   * Reads it: ticks since some fixed moment; null where it is not available.
   */
  uint64_t (*read)(void);
  /**
   * Why it is not available; null where it is.
   */
  const char *unavailable;
  /**
   * Ticks per second where the interface defines it; 0 where it must be measured.
   */
  double nominal_hz;
  /**
   * Its quantum in ticks, measured; 0 in a list, where it is not.
   */
  uint64_t quantum;
  /**
   * Bits of the counter: one of fewer than 64 wraps.
   */
  uint32_t bits;
} hairspring_clock;

/**
 * Code at one number of copies: reads the clock, runs `inits` inits and `bodies` bodies, and reads the clock again.
 */
typedef struct hairspring_row {
  /**
   * Runs it with a clock to read and the benchmark's argument, and returns the ticks in between, or HAIRSPRING_FAILED.
   */
  uint64_t (*run)(uint64_t (*now)(void), int64_t argument);
  /**
   * Bodies between the two reads.
   */
  uint32_t bodies;
  /**
   * Inits between the two reads.
   */
  uint32_t inits;
  /**
   * 0: an init before every body, the further inits at the end; the answer comes from these rows. Checks that body and
   * init add up: 1: every body behind an equal number of inits; 2: fences around every init; 3: as 2, with a chain of 16
   * dependent 64-bit multiplications in place of the body.
   */
  uint32_t order;
} hairspring_row;

/**
 * A benchmark: its rows, the shortest first.
 */
typedef struct hairspring_series {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Name of its series in the table.
   */
  const char *name;
  /**
   * Its rows.
   */
  const struct hairspring_row *rows;
  /**
   * How many they are.
   */
  size_t row_count;
  /**
   * What its rows are handed.
   */
  int64_t argument;
} hairspring_series;

/**
 * How to measure.
 */
typedef struct hairspring_plan {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Name of the clock; null is the best one here.
   */
  const char *clock;
  /**
   * Time to measure for at the most; 0 is 500.
   */
  uint32_t milliseconds;
  /**
   * 1 leaves out the reference chain, and with it the core cycles.
   */
  uint32_t without_cycles;
} hairspring_plan;

/**
 * Code to be timed, made by HAIRSPRING_BENCHMARK.
 */
typedef struct hairspring_benchmark {
  /**
   * Its name.
   */
  const char *name;
  /**
   * Its rows, the shortest first.
   */
  const struct hairspring_row *rows;
  /**
   * How many they are.
   */
  size_t row_count;
  /**
   * What the second component is called where there is one; null is `init`.
   */
  const char *second;
} hairspring_benchmark;

/**
 * A benchmark as it is to be run. All but the benchmark may be left 0.
 */
typedef struct hairspring_entry {
  /**
   * The benchmark.
   */
  const struct hairspring_benchmark *benchmark;
  /**
   * Runs once before the first row.
   */
  void (*setup)(int64_t argument);
  /**
   * Results are called `benchmark/argument_name:value`; null is `argument`.
   */
  const char *argument_name;
  /**
   * What the rows are handed, one after the other.
   */
  int64_t arguments[HAIRSPRING_MOST_ARGUMENTS];
  /**
   * How many they are; with 0 the rows are handed `arguments[0]`, and the name stays as it is.
   */
  uint32_t argument_count;
  /**
   * 1: runs in the same rounds as the entry before, with that one's arguments if it has any, and is compared with it.
   */
  uint32_t alternative;
} hairspring_entry;

/**
 * What is known of the clock that made a table's readings.
 */
typedef struct hairspring_table_clock {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Ticks per second; 0 where that is not known.
   */
  double rate_hz;
  /**
   * Standard uncertainty of the rate, in parts per million.
   */
  double rate_uncertainty_ppm;
  /**
   * Quantum of the readings in their unit; 0 where that is not known.
   */
  double quantum;
  /**
   * 0 where the readings are ticks, 1 where they are nanoseconds.
   */
  uint32_t in_nanoseconds;
} hairspring_table_clock;

/**
 * A procedure to be timed. All but the name and the procedure may be left 0.
 */
typedef struct hairspring_procedure {
  /**
   * Its name.
   */
  const char *name;
  /**
   * Name of an argument, where there is one: results are called `name/argument_name:argument`.
   */
  const char *argument_name;
  /**
   * The value of that argument; the procedure finds it through its context.
   */
  int64_t argument;
  /**
   * The body: called 1 to 256 times in a row between two reads of the clock.
   */
  void (*procedure)(void *context);
  /**
   * Runs before every body, and is told apart from it.
   */
  void (*init)(void *context);
  /**
   * Runs once before the first row.
   */
  void (*setup)(void *context);
  /**
   * What all three are handed.
   */
  void *context;
  /**
   * 1: runs in the same rounds as the entry before, and is compared with it.
   */
  uint32_t alternative;
} hairspring_procedure;

/**
 * What a stopwatch read: raw, the overhead still in it.
 */
typedef struct hairspring_span {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Ticks; negative where the clock was set back in between.
   */
  int64_t ticks;
  /**
   * Pairs of reads in it: 1, or the number of laps of a total.
   */
  uint32_t pairs;
} hairspring_span;

/**
 * A span as a time.
 */
typedef struct hairspring_elapsed {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Nanoseconds, the overhead taken off; never clamped, so it can be negative.
   */
  struct hairspring_estimate ns;
  /**
   * 1 where the time cannot be told from zero, and `bound_ns` is the most that it can be.
   */
  uint32_t below_resolution;
  /**
   * That bound in nanoseconds, else 0.
   */
  double bound_ns;
  /**
   * The overhead that was taken off each pair of reads, in ticks: mean and standard deviation.
   */
  double overhead_ticks;
  /**
   * Standard deviation of the overhead, in ticks.
   */
  double overhead_sd_ticks;
} hairspring_elapsed;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Solves every series of a table, checks it, and compares it with the first. `question` may be null.
 */
enum hairspring_status hairspring_assess(const struct hairspring_observations *table,
                                         const struct hairspring_question *question,
                                         struct hairspring_assessment **out);

/**
 * Gives an assessment back; its texts go with it.
 */
void hairspring_assessment_free(struct hairspring_assessment *assessment);

/**
 * Copies the estimates into an array with room for so many, and says how many there are. The array may be null where
 * there is no room.
 */
enum hairspring_status hairspring_assessment_components(const struct hairspring_assessment *assessment,
                                                        struct hairspring_component *array,
                                                        size_t element_size,
                                                        size_t room,
                                                        size_t *count);

/**
 * Copies the findings, as `hairspring_assessment_components` does the estimates.
 */
enum hairspring_status hairspring_assessment_findings(const struct hairspring_assessment *assessment,
                                                      struct hairspring_finding *array,
                                                      size_t element_size,
                                                      size_t room,
                                                      size_t *count);

/**
 * Copies the comparisons, as `hairspring_assessment_components` does the estimates.
 */
enum hairspring_status hairspring_assessment_comparisons(const struct hairspring_assessment *assessment,
                                                         struct hairspring_comparison *array,
                                                         size_t element_size,
                                                         size_t room,
                                                         size_t *count);

/**
 * How many clocks are known for this system, available or not.
 */
enum hairspring_status hairspring_clock_count(size_t *count);

/**
 * The clock at a place of the list, from 0.
 */
enum hairspring_status hairspring_clock_at(size_t index, struct hairspring_clock *clock);

/**
 * The clock of that name, enabled in the calling thread, seen to count, its quantum measured; null is the best clock
 * here. Every thread that reads it must ask for it.
 */
enum hairspring_status hairspring_clock_find(const char *name, struct hairspring_clock *clock);

/**
 * Runs benchmarks in the same rounds, so that they can be compared; the first is what the others are compared with.
 * Gives a table for `hairspring_assess`. `plan` may be null. Meanwhile the thread keeps to one CPU.
 */
enum hairspring_status hairspring_measure(const struct hairspring_series *series,
                                          size_t element_size,
                                          size_t count,
                                          const struct hairspring_plan *plan,
                                          struct hairspring_observations **out);

/**
 * Runs a program of benchmarks: reads its command line, measures, and prints a table or a JSON document; `--help` says
 * more. Returns the exit status of the program.
 */
int hairspring_run_program(int argc,
                           const char *const *argv,
                           const struct hairspring_entry *entries,
                           size_t element_size,
                           size_t count);

/**
 * A new table whose rows count these components: `count` names, 1 to 10,000.
 */
enum hairspring_status hairspring_observations_new(const char *const *components,
                                                   size_t count,
                                                   struct hairspring_observations **out);

/**
 * Gives a table back.
 */
void hairspring_observations_free(struct hairspring_observations *table);

/**
 * Says what is known of the clock; `name` may be null.
 */
enum hairspring_status hairspring_observations_set_clock(const struct hairspring_observations *table,
                                                         const char *name,
                                                         const struct hairspring_table_clock *clock);

/**
 * The row of a series with these counts, one for each component, made if it is not there yet. `series` null is `main`.
 */
enum hairspring_status hairspring_observations_row(const struct hairspring_observations *table,
                                                   const char *series,
                                                   const double *counts,
                                                   size_t count,
                                                   uint32_t *row);

/**
 * Adds a reading of a row, in the table's unit. Readings of one round ran within a short time of each other.
 */
enum hairspring_status hairspring_observations_push(const struct hairspring_observations *table,
                                                    uint32_t row,
                                                    uint32_t round,
                                                    double reading);

/**
 * How many readings a table holds.
 */
enum hairspring_status hairspring_observations_count(const struct hairspring_observations *table, size_t *readings);

/**
 * Reads an observation file (CSV).
 */
enum hairspring_status hairspring_observations_read_csv(const char *path, struct hairspring_observations **out);

/**
 * Reads observations from the text of such a file: `length` bytes.
 */
enum hairspring_status hairspring_observations_parse_csv(const uint8_t *bytes,
                                                         size_t length,
                                                         struct hairspring_observations **out);

/**
 * Writes a table as an observation file, which `hairspring fit` reads.
 */
enum hairspring_status hairspring_observations_write_csv(const struct hairspring_observations *table, const char *path);

/**
 * Runs a program of benchmarks of procedures, as `hairspring_run_program` does: reads the command line, measures, and
 * prints. The time of an indirect call is part of every answer. Returns the exit status of the program.
 */
int hairspring_run_procedures(int argc,
                              const char *const *argv,
                              const struct hairspring_procedure *procedures,
                              size_t element_size,
                              size_t count);

/**
 * A stopwatch on the clock of that name, null being the best one here. It measures the overhead of its own start and stop,
 * through these calls; that takes 10 to 70 ms.
 */
enum hairspring_status hairspring_stopwatch_new(const char *clock,
                                                struct hairspring_stopwatch **out);

/**
 * Gives a stopwatch back.
 */
void hairspring_stopwatch_free(struct hairspring_stopwatch *stopwatch);

/**
 * Starts, or starts again: laps are forgotten.
 */
enum hairspring_status hairspring_stopwatch_start(const struct hairspring_stopwatch *stopwatch);

/**
 * Time since the start or the last lap, and on with the next one.
 */
enum hairspring_status hairspring_stopwatch_lap(const struct hairspring_stopwatch *stopwatch,
                                                struct hairspring_span *span);

/**
 * Time since the start or the last lap; then it stands.
 */
enum hairspring_status hairspring_stopwatch_stop(const struct hairspring_stopwatch *stopwatch,
                                                 struct hairspring_span *span);

/**
 * All laps since the start together.
 */
enum hairspring_status hairspring_stopwatch_total(const struct hairspring_stopwatch *stopwatch,
                                                  struct hairspring_span *span);

/**
 * A span as a time at a confidence level (0 is 0.95). To be called behind the measurement.
 */
enum hairspring_status hairspring_stopwatch_elapsed(const struct hairspring_stopwatch *stopwatch,
                                                    const struct hairspring_span *span,
                                                    double confidence_level,
                                                    struct hairspring_elapsed *elapsed);

/**
 * Text of the last error of the calling thread, cut to the room there is and ended with a 0 byte. Returns its whole
 * length in bytes, without that end; with no room nothing is written.
 */
size_t hairspring_last_error(char *buffer, size_t room);

/**
 * A status in a few words, for any number; never null.
 */
const char *hairspring_status_name(int32_t status);

/**
 * Version of the library, as `0.1.0`; never null.
 */
const char *hairspring_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HAIRSPRING_ENGINE_H */

/* A struct of this type with its size set and all else 0. */
#ifndef __cplusplus
#define HAIRSPRING_SIZED(type) ((type){.size = sizeof(type)})
#endif
