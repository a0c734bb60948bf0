/* The C ABI of Hairspring's engine. Made by cbindgen from crates/hairspring-capi/src: do not edit.
 *
 * Every call returns a status; hairspring_last_error has the text of what went wrong in the calling thread. Handles may
 * be used by several threads, and are given back once, with the _free function of their kind. Structs begin with their
 * size, which the caller sets (HAIRSPRING_SIZED), and may grow at their end. A program with the header of another version
 * is served: fields that its struct lacks are 0, which is their default, and are not written; fields that this library does
 * not know must be 0, and are set to 0. */

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
   * A struct has a size that cannot be right, or fields are set in it that this library does not know.
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
 * What a line of lmbench says.
 */
typedef enum hairspring_line {
  /**
   * Milliseconds for each operation.
   */
  HAIRSPRING_LINE_MILLI = 0,
  /**
   * Microseconds for each operation.
   */
  HAIRSPRING_LINE_MICRO = 1,
  /**
   * Nanoseconds for each operation.
   */
  HAIRSPRING_LINE_NANO = 2,
  /**
   * Megabytes (1,000,000 bytes) a second.
   */
  HAIRSPRING_LINE_MB = 3,
  /**
   * Kilobytes (1000 bytes) a second.
   */
  HAIRSPRING_LINE_KB = 4,
} hairspring_line;

/**
 * All that can be said of a table. It never changes, so that threads may share it.
 */
typedef struct hairspring_assessment hairspring_assessment;

/**
 * A table of observations.
 */
typedef struct hairspring_observations hairspring_observations;

/**
 * A stopwatch. What is read between start and stop lies outside the lock.
 */
typedef struct hairspring_stopwatch hairspring_stopwatch;

/**
 * Experiments with a loop.
 */
typedef struct hairspring_trials hairspring_trials;

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

/**
 * How to measure a loop. All but the size may be 0.
 */
typedef struct hairspring_trials_plan {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Name of the clock; null is the best one here.
   */
  const char *clock;
  /**
   * How long each timed interval must last at least, in microseconds; 0 is what the clock needs for 1 %, and 5 ms at
   * least. At most 9e8.
   */
  double window_us;
  /**
   * Experiments; 0 is eleven, or one where the interval is longer than 100 ms.
   */
  uint32_t experiments;
  /**
   * 1 where `timing_us` is the time of a read of the clock, in microseconds; else it is measured.
   */
  uint32_t timing_is_given;
  /**
   * That time.
   */
  double timing_us;
  /**
   * 1 where `loop_us` is the time that the loop adds to a trip, in microseconds; else it is measured with `empty_loop`.
   */
  uint32_t loop_is_given;
  /**
   * That time.
   */
  double loop_us;
  /**
   * The same loop with so many copies of some expression in it, 0, 1 or 2, for so many trips. Null: what the loop adds stays
   * in the result.
   */
  void (*empty_loop)(uint32_t copies, uint64_t trips);
} hairspring_trials_plan;

/**
 * What the experiments with a loop say.
 */
typedef struct hairspring_trip_time {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Time of one trip in nanoseconds, overheads subtracted, never clamped. The level is 0 where a single experiment gave it:
   * then the interval has no spread in it, only what clock and overheads may be off by.
   */
  struct hairspring_estimate trip_ns;
  /**
   * 1 where that time cannot be told from zero, and `bound_ns` is the most that it can be.
   */
  uint32_t below_resolution;
  /**
   * That bound in nanoseconds, else 0.
   */
  double bound_ns;
  /**
   * Experiments that were made.
   */
  uint32_t experiments;
  /**
   * Trips of the experiment with the median.
   */
  uint64_t trips;
  /**
   * How long each interval had to last, in nanoseconds.
   */
  double window_ns;
  /**
   * The time of a read of the clock, subtracted once from each interval.
   */
  struct hairspring_estimate timing_ns;
  /**
   * The time of the loop itself, subtracted once for each trip.
   */
  struct hairspring_estimate loop_ns;
} hairspring_trip_time;

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
 * The beginning of a BENCH of `lmbench.h`: `hairspring_trials_new` with an interval of `enough_us` microseconds (0: that of
 * the environment variable ENOUGH, or what the clock needs) and so many experiments (0: eleven, or one where the interval is
 * longer than 100 ms). The environment variables TIMING_O and LOOP_O give the overheads in microseconds.
 */
enum hairspring_status hairspring_lmbench_begin(double enough_us,
                                                uint32_t experiments,
                                                void (*empty_loop)(uint32_t copies, uint64_t trips),
                                                uint64_t (**now)(void),
                                                struct hairspring_trials **out);

/**
 * The end of a BENCH: keeps the result for the calling thread, in place of the one before, and gives the experiments back.
 * `so_far` is what came of the last call of `hairspring_trials_next`: where that failed, its text is kept instead.
 */
enum hairspring_status hairspring_lmbench_end(struct hairspring_trials *trials,
                                              int32_t so_far);

/**
 * How often the body ran in the interval that the calling thread's last BENCH kept; 0 where there is none.
 */
uint64_t hairspring_lmbench_n(void);

/**
 * Says how often something ran in that interval, for programs that run several in a body.
 */
void hairspring_lmbench_save_n(uint64_t n);

/**
 * How long that interval lasted in microseconds, overheads subtracted; 0 where there is none or it is below resolution.
 */
double hairspring_lmbench_usecs(void);

/**
 * The line that reports that result for `count` operations or bytes, as lmbench has it, the interval behind it: cut to the
 * room there is and ended with a 0 byte. Returns its whole length in bytes, without that end; with no room nothing is
 * written. `name` may be null.
 */
size_t hairspring_lmbench_line(const char *name,
                               int32_t unit,
                               uint64_t count,
                               char *buffer,
                               size_t room);

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
 * Experiments with a loop of the caller's. It reads the clock by `now` before and after the loop, and asks
 * `hairspring_trials_next` for the trips. `plan` may be null. The first call takes some 50 ms, for what is measured once.
 */
enum hairspring_status hairspring_trials_new(const struct hairspring_trials_plan *plan,
                                             uint64_t (**now)(void),
                                             struct hairspring_trials **out);

/**
 * Gives experiments back.
 */
void hairspring_trials_free(struct hairspring_trials *trials);

/**
 * Takes what the clock said of the last trips, in ticks, and how many of them were run; the first call has none, and they
 * are not looked at. Gives the number of trips that are to be run next, 0 when there are enough. The body must not leave
 * the loop.
 */
enum hairspring_status hairspring_trials_next(const struct hairspring_trials *trials,
                                              uint64_t ticks,
                                              uint64_t trips_ran,
                                              uint64_t *trips);

/**
 * What the experiments made so far say, at a confidence level (0 is 0.95).
 */
enum hairspring_status hairspring_trials_result(const struct hairspring_trials *trials,
                                                double confidence_level,
                                                struct hairspring_trip_time *result);

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
