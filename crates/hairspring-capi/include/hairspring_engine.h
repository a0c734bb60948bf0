/* The C ABI of Hairspring's engine. Made by cbindgen from crates/hairspring-capi/src: do not edit.
 *
 * Every call returns a status; hairspring_last_error gives the text of the calling thread's last
 * error. Several threads may use a handle; it is freed once, with the _free function of its kind.
 * Structs begin with their size, which the caller sets (HAIRSPRING_SIZED), and may grow at their
 * end. A program with the header of another version works: fields that its struct lacks are 0, the
 * default, and are not written; fields that this library does not know must be 0, and are set
 * to 0. */

#ifndef HAIRSPRING_ENGINE_H
#define HAIRSPRING_ENGINE_H

#include <stddef.h>
#include <stdint.h>

/**
 * The largest number of arguments of a benchmark.
 */
#define HAIRSPRING_MOST_ARGUMENTS 16

/**
 * A row returns this instead of ticks if its code failed: the program ends with a message and
 * status 1. A clock that was set back by exactly one tick between two reads gives the same value.
 */
#define HAIRSPRING_FAILED UINT64_MAX

/**
 * Added to a row's order if it was compiled without optimisation: a finding says so.
 */
#define HAIRSPRING_UNOPTIMISED 256

/**
 * Added to the order of a row that runs a block of its copies HAIRSPRING_RUNS_OF_A_BLOCK times;
 * its bodies are those of all runs.
 */
#define HAIRSPRING_IN_BLOCKS 512

/**
 * The status of a call.
 */
typedef enum hairspring_status {
  /**
   * Success.
   */
  HAIRSPRING_STATUS_OK = 0,
  /**
   * A required pointer is null, or a pointer is not aligned.
   */
  HAIRSPRING_STATUS_BAD_POINTER = 1,
  /**
   * A struct has an impossible size, or has fields set that this library does not know.
   */
  HAIRSPRING_STATUS_WRONG_SIZE = 2,
  /**
   * An argument is out of its range, or is not UTF-8 text.
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
   * There is no such clock here, or it cannot be used.
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
   * An internal failure of the library; the handle may still be freed.
   */
  HAIRSPRING_STATUS_INTERNAL = 10,
} hairspring_status;

/**
 * What an estimate is of.
 */
typedef enum hairspring_kind {
  /**
   * A component, or a combination that the counts cannot separate.
   */
  HAIRSPRING_KIND_COMPONENT = 0,
  /**
   * What all rows have in common.
   */
  HAIRSPRING_KIND_OVERHEAD = 1,
} hairspring_kind;

/**
 * How serious a finding is.
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
 * The verdict of a comparison.
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
   * A difference is not certain, and the interval is narrow.
   */
  HAIRSPRING_VERDICT_NO_DIFFERENCE = 2,
  /**
   * A difference is not certain, and the interval is wide.
   */
  HAIRSPRING_VERDICT_UNDECIDED = 3,
} hairspring_verdict;

/**
 * The quantity that a line of lmbench reports.
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
 * The estimates, findings and comparisons of a table. It is immutable, so threads may share it.
 */
typedef struct hairspring_assessment hairspring_assessment;

/**
 * A table of observations.
 */
typedef struct hairspring_observations hairspring_observations;

/**
 * A stopwatch. The clock and the start value are outside the lock, so that no lock is taken
 * between start and stop.
 */
typedef struct hairspring_stopwatch hairspring_stopwatch;

/**
 * Experiments with a loop.
 */
typedef struct hairspring_trials hairspring_trials;

/**
 * Options of an assessment.
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
   * Required half-width as a share of the first component's time; 0: none is required.
   */
  double precision;
  /**
   * 1: all rows are used; 0: rows far off the line may be left out.
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
   * Confidence level, such as 0.95. An unavailable estimate is 0 in all fields.
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
   * 1 if the time cannot be distinguished from zero; `bound` is then its upper bound.
   */
  uint32_t below_resolution;
  /**
   * The bound, in nanoseconds if the clock's rate is known, else in ticks.
   */
  double bound;
  /**
   * The time in the unit of the readings.
   */
  struct hairspring_estimate ticks;
  /**
   * The time in nanoseconds, if the clock's rate is known.
   */
  struct hairspring_estimate ns;
  /**
   * The time in core cycles, if a reference chain ran in the same rounds.
   */
  struct hairspring_estimate cycles;
  /**
   * 1 if a finding says that this time must not be trusted.
   */
  uint32_t untrusted;
  /**
   * 1 if the component only serves the others, such as an init.
   */
  uint32_t serves;
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
   * How serious it is.
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
  /**
   * The component that it is about; null if it is about the whole series.
   */
  const char *component;
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
   * The series that is compared.
   */
  const char *a;
  /**
   * The series that it is compared with: the first of the table.
   */
  const char *b;
  /**
   * Time of `a` over time of `b`.
   */
  struct hairspring_estimate ratio;
  /**
   * The conclusion from the interval.
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
   * Name by which it is found.
   */
  const char *name;
  /**
   * Description in one sentence.
   */
  const char *description;
  /**
   * Reads the clock, in ticks since some fixed point in time; null if it is unavailable.
   */
  uint64_t (*read)(void);
  /**
   * Why it is unavailable; null if it is available.
   */
  const char *unavailable;
  /**
   * Ticks per second as the interface defines them; 0 if they must be measured.
   */
  double nominal_hz;
  /**
   * Quantum in ticks, measured by `hairspring_clock_find`; 0 from `hairspring_clock_at`.
   */
  uint64_t quantum;
  /**
   * Width of the counter in bits; a counter of fewer than 64 bits wraps.
   */
  uint32_t bits;
} hairspring_clock;

/**
 * Code at one number of copies: reads the clock, runs `inits` inits and `bodies` bodies, and reads
 * the clock again.
 */
typedef struct hairspring_row {
  /**
   * Runs the row with a clock to read and the benchmark's argument, and returns the ticks
   * between the two reads, or HAIRSPRING_FAILED.
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
   * 0: an init before every body, the further inits at the end; the result comes from these
   * rows. The others check that body and init add up. 1: an equal number of inits before every
   * body; 2: fences around every init; 3: as 2, with a chain of 16 dependent 64-bit
   * multiplications in place of the body. HAIRSPRING_UNOPTIMISED may be added, and to 0
   * HAIRSPRING_IN_BLOCKS.
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
   * Number of rows.
   */
  size_t row_count;
  /**
   * The argument passed to its rows.
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
   * Time to measure, in milliseconds; 0 means 500, and up to 1500 while something else uses the
   * core.
   */
  uint32_t milliseconds;
  /**
   * 1 leaves out the reference chain, and with it the core cycles.
   */
  uint32_t without_cycles;
  /**
   * 1: the code runs other threads. Then the thread is not bound to a CPU, its priority stays as
   * it is, and there are no core cycles. With 0 the code is measured in this way if it turns out
   * to run other threads.
   */
  uint32_t threads;
  /**
   * 1: the thread is not bound to a CPU.
   */
  uint32_t without_pin;
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
   * Number of rows.
   */
  size_t row_count;
  /**
   * Name of the second component, if there is one; null means `init`.
   */
  const char *second;
} hairspring_benchmark;

/**
 * A benchmark to run. All fields but the benchmark may be 0.
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
   * Results are named `benchmark/argument_name:value`; null means `argument`.
   */
  const char *argument_name;
  /**
   * The arguments; the benchmark runs once with each.
   */
  int64_t arguments[HAIRSPRING_MOST_ARGUMENTS];
  /**
   * Number of arguments. If it is 0, the rows get `arguments[0]`, and the name has no argument.
   */
  uint32_t argument_count;
  /**
   * 1: runs in the same rounds as the entry before, with its arguments if it has any, and is
   * compared with it.
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
   * Ticks per second; 0 if unknown.
   */
  double rate_hz;
  /**
   * Standard uncertainty of the rate, in parts per million.
   */
  double rate_uncertainty_ppm;
  /**
   * Quantum of the readings in their unit; 0 if unknown.
   */
  double quantum;
  /**
   * 0 if the readings are ticks, 1 if they are nanoseconds.
   */
  uint32_t in_nanoseconds;
} hairspring_table_clock;

/**
 * A procedure to be timed. All fields but the name and the procedure may be 0.
 */
typedef struct hairspring_procedure {
  /**
   * Its name.
   */
  const char *name;
  /**
   * Name of the argument, or null: results are named `name/argument_name:argument`.
   */
  const char *argument_name;
  /**
   * The value of that argument, for the name only; the procedure gets it through its context.
   */
  int64_t argument;
  /**
   * The body: called 1 to 256 times in a row between two reads of the clock.
   */
  void (*procedure)(void *context);
  /**
   * Runs before every body; its time is separated from the body's.
   */
  void (*init)(void *context);
  /**
   * Runs once before the first row.
   */
  void (*setup)(void *context);
  /**
   * Passed to all three procedures.
   */
  void *context;
  /**
   * 1: runs in the same rounds as the entry before, and is compared with it.
   */
  uint32_t alternative;
  /**
   * 1: the procedure was compiled without optimisation; a finding says so.
   */
  uint64_t unoptimised;
} hairspring_procedure;

/**
 * A raw reading of a stopwatch, with its overhead included.
 */
typedef struct hairspring_span {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Ticks; negative if the clock was set back in between.
   */
  int64_t ticks;
  /**
   * Number of pairs of reads: 1, or the number of laps of a total.
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
   * Time in nanoseconds, minus the overhead; never clamped, so it can be negative.
   */
  struct hairspring_estimate ns;
  /**
   * 1 if the time cannot be distinguished from zero; `bound_ns` is then its upper bound.
   */
  uint32_t below_resolution;
  /**
   * The bound in nanoseconds; 0 if the time is not below resolution.
   */
  double bound_ns;
  /**
   * Mean overhead that was subtracted for each pair of reads, in ticks.
   */
  double overhead_ticks;
  /**
   * Standard deviation of the overhead, in ticks.
   */
  double overhead_sd_ticks;
} hairspring_elapsed;

/**
 * How to measure a loop. All fields but the size may be 0.
 */
typedef struct hairspring_trials_plan {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Name of the clock; null means the best one here.
   */
  const char *clock;
  /**
   * Shortest length of each timed interval in microseconds, at most 9e8; 0 means what the clock
   * needs for 1 %, but at least 5 ms.
   */
  double window_us;
  /**
   * Number of experiments; 0 means eleven, or one if the interval is longer than 100 ms.
   */
  uint32_t experiments;
  /**
   * 1 if `timing_us` is given; 0 if it is to be measured.
   */
  uint32_t timing_is_given;
  /**
   * Time of a read of the clock, in microseconds.
   */
  double timing_us;
  /**
   * 1 if `loop_us` is given; 0 if it is to be measured with `empty_loop`.
   */
  uint32_t loop_is_given;
  /**
   * Time that the loop adds to a trip, in microseconds.
   */
  double loop_us;
  /**
   * Runs the same loop for `trips` trips with 0, 1 or 2 copies of some expression in it. If
   * null, the time of the loop stays in the result.
   */
  void (*empty_loop)(uint32_t copies, uint64_t trips);
} hairspring_trials_plan;

/**
 * The result of the experiments with a loop.
 */
typedef struct hairspring_trip_time {
  /**
   * Size of this struct in bytes.
   */
  size_t size;
  /**
   * Time of one trip in nanoseconds, overheads subtracted, never clamped. After a single
   * experiment the level is 0: the interval then includes no spread, only the uncertainty of the
   * clock and of the overheads.
   */
  struct hairspring_estimate trip_ns;
  /**
   * 1 if the time cannot be distinguished from zero; `bound_ns` is then its upper bound.
   */
  uint32_t below_resolution;
  /**
   * The bound in nanoseconds; 0 if the time is not below resolution.
   */
  double bound_ns;
  /**
   * Number of experiments made.
   */
  uint32_t experiments;
  /**
   * Number of trips in the median experiment.
   */
  uint64_t trips;
  /**
   * Required length of each interval, in nanoseconds.
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
 * Solves and checks every series of a table, and compares it with the first. `question` may be
 * null, for the defaults.
 */
enum hairspring_status hairspring_assess(const struct hairspring_observations *table,
                                         const struct hairspring_question *question,
                                         struct hairspring_assessment **out);

/**
 * Frees an assessment and its texts; null is allowed.
 */
void hairspring_assessment_free(struct hairspring_assessment *assessment);

/**
 * Copies at most `room` estimates into an array, and sets `count` to the number that the
 * assessment has. The array may be null if `room` is 0.
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
 * The number of clocks known for this system, available or not.
 */
enum hairspring_status hairspring_clock_count(size_t *count);

/**
 * The clock at an index of the list, from 0.
 */
enum hairspring_status hairspring_clock_at(size_t index, struct hairspring_clock *clock);

/**
 * Finds a clock by name (null: the best one here), enables it in the calling thread, checks that
 * it counts, and measures its quantum. Every thread that reads the clock must call this first.
 */
enum hairspring_status hairspring_clock_find(const char *name, struct hairspring_clock *clock);

/**
 * Begins a BENCH of `lmbench.h`: calls `hairspring_trials_new` with an interval of `enough_us`
 * microseconds (0: that of the environment variable ENOUGH, or what the clock needs) and this
 * number of experiments (0: eleven, or one if the interval is longer than 100 ms). The environment
 * variables TIMING_O and LOOP_O give the overheads in microseconds.
 */
enum hairspring_status hairspring_lmbench_begin(double enough_us,
                                                uint32_t experiments,
                                                void (*empty_loop)(uint32_t copies, uint64_t trips),
                                                uint64_t (**now)(void),
                                                struct hairspring_trials **out);

/**
 * Ends a BENCH: replaces the result kept for the calling thread, and frees the experiments.
 * `so_far` is the status of the last call of `hairspring_trials_next`: if that failed, its error
 * text is kept instead.
 */
enum hairspring_status hairspring_lmbench_end(struct hairspring_trials *trials, int32_t so_far);

/**
 * How often the body ran in the interval that the calling thread's last BENCH kept; 0 if there is
 * no result.
 */
uint64_t hairspring_lmbench_n(void);

/**
 * Sets how often an operation ran in that interval, for programs that run several operations in
 * one body.
 */
void hairspring_lmbench_save_n(uint64_t n);

/**
 * Length of that interval in microseconds, overheads subtracted; 0 if there is no result or it is
 * below resolution.
 */
double hairspring_lmbench_usecs(void);

/**
 * Writes the line that reports that result for `count` operations or bytes in the format of
 * lmbench, followed by the interval. The text is cut to `room` bytes including the terminating 0
 * byte; with no room nothing is written. Returns the length of the whole text in bytes, without
 * the terminator. `name` may be null.
 */
size_t hairspring_lmbench_line(const char *name,
                               int32_t unit,
                               uint64_t count,
                               char *buffer,
                               size_t room);

/**
 * Runs benchmarks in the same rounds, so that the others can be compared with the first. `out`
 * gets a table for `hairspring_assess`. `plan` may be null, for the defaults. The thread is bound
 * to one CPU during the call, unless the code runs other threads.
 */
enum hairspring_status hairspring_measure(const struct hairspring_series *series,
                                          size_t element_size,
                                          size_t count,
                                          const struct hairspring_plan *plan,
                                          struct hairspring_observations **out);

/**
 * Runs a program of benchmarks: reads its command line, measures, and prints a table or a JSON
 * document; `--help` shows the options. Returns the exit status of the program.
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
 * Frees a table; null is allowed.
 */
void hairspring_observations_free(struct hairspring_observations *table);

/**
 * Describes the clock that made the readings; `name` may be null.
 */
enum hairspring_status hairspring_observations_set_clock(const struct hairspring_observations *table,
                                                         const char *name,
                                                         const struct hairspring_table_clock *clock);

/**
 * Sets `row` to the row of a series with these counts, one for each component; adds the row if the
 * table does not have it. A null `series` means `main`. Counts are not negative, and those other
 * than 0 lie between 1e-30 and 1e30.
 */
enum hairspring_status hairspring_observations_row(const struct hairspring_observations *table,
                                                   const char *series,
                                                   const double *counts,
                                                   size_t count,
                                                   uint32_t *row);

/**
 * Adds a reading of a row, in the table's unit. Readings of one round are taken within a short
 * time. Those other than 0 lie between 1e-30 and 1e30 on either side of it.
 */
enum hairspring_status hairspring_observations_push(const struct hairspring_observations *table,
                                                    uint32_t row,
                                                    uint32_t round,
                                                    double reading);

/**
 * The number of readings in a table.
 */
enum hairspring_status hairspring_observations_count(const struct hairspring_observations *table,
                                                     size_t *readings);

/**
 * Reads an observation file (CSV).
 */
enum hairspring_status hairspring_observations_read_csv(const char *path,
                                                        struct hairspring_observations **out);

/**
 * Reads observations from the text of an observation file, `length` bytes long.
 */
enum hairspring_status hairspring_observations_parse_csv(const uint8_t *bytes,
                                                         size_t length,
                                                         struct hairspring_observations **out);

/**
 * Writes a table as an observation file, which `hairspring fit` reads.
 */
enum hairspring_status hairspring_observations_write_csv(const struct hairspring_observations *table,
                                                         const char *path);

/**
 * Runs a program of benchmarks of procedures, as `hairspring_run_program` does: reads the command
 * line, measures, and prints. The time of an indirect call is part of every result. Returns the
 * exit status of the program.
 */
int hairspring_run_procedures(int argc,
                              const char *const *argv,
                              const struct hairspring_procedure *procedures,
                              size_t element_size,
                              size_t count);

/**
 * Makes a stopwatch on the clock with this name (null: the best one here). It measures the
 * overhead of its own start and stop, through these calls; that takes 10 to 70 ms.
 */
enum hairspring_status hairspring_stopwatch_new(const char *clock,
                                                struct hairspring_stopwatch **out);

/**
 * Frees a stopwatch; null is allowed.
 */
void hairspring_stopwatch_free(struct hairspring_stopwatch *stopwatch);

/**
 * Starts or restarts a stopwatch; earlier laps are discarded.
 */
enum hairspring_status hairspring_stopwatch_start(const struct hairspring_stopwatch *stopwatch);

/**
 * Sets `span` to the time since the start or the last lap, and begins the next lap, also if this
 * one is refused.
 */
enum hairspring_status hairspring_stopwatch_lap(const struct hairspring_stopwatch *stopwatch,
                                                struct hairspring_span *span);

/**
 * Sets `span` to the time since the start or the last lap, and stops the stopwatch.
 */
enum hairspring_status hairspring_stopwatch_stop(const struct hairspring_stopwatch *stopwatch,
                                                 struct hairspring_span *span);

/**
 * Sets `span` to the sum of all laps since the start.
 */
enum hairspring_status hairspring_stopwatch_total(const struct hairspring_stopwatch *stopwatch,
                                                  struct hairspring_span *span);

/**
 * Converts a span to a time at a confidence level (0 means 0.95). Call it after the measurement,
 * not within it.
 */
enum hairspring_status hairspring_stopwatch_elapsed(const struct hairspring_stopwatch *stopwatch,
                                                    const struct hairspring_span *span,
                                                    double confidence_level,
                                                    struct hairspring_elapsed *elapsed);

/**
 * Begins experiments with the caller's own loop. The caller reads the clock by `now` before and
 * after the loop, and gets the number of trips from `hairspring_trials_next`. `plan` may be null,
 * for the defaults. The first call in a process takes some 50 ms.
 */
enum hairspring_status hairspring_trials_new(const struct hairspring_trials_plan *plan,
                                             uint64_t (**now)(void),
                                             struct hairspring_trials **out);

/**
 * Frees experiments; null is allowed.
 */
void hairspring_trials_free(struct hairspring_trials *trials);

/**
 * Reports the ticks that the last trips took and how many trips were run; the first call ignores
 * both. Sets `trips` to the number of trips to run next, 0 when there are enough. The body must
 * not leave the loop.
 */
enum hairspring_status hairspring_trials_next(const struct hairspring_trials *trials,
                                              uint64_t ticks,
                                              uint64_t trips_ran,
                                              uint64_t *trips);

/**
 * Sets `result` to the result of the experiments made so far, at a confidence level (0 means
 * 0.95).
 */
enum hairspring_status hairspring_trials_result(const struct hairspring_trials *trials,
                                                double confidence_level,
                                                struct hairspring_trip_time *result);

/**
 * Copies the text of the calling thread's last error, cut to `room` bytes including the
 * terminating 0 byte; with no room nothing is written. Returns the length of the whole text in
 * bytes, without the terminator.
 */
size_t hairspring_last_error(char *buffer, size_t room);

/**
 * A short text for a status, for any number; never null.
 */
const char *hairspring_status_name(int32_t status);

/**
 * Version of the library, such as `0.1.0`; never null.
 */
const char *hairspring_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HAIRSPRING_ENGINE_H */

/* A struct of this type with its size set and all other fields 0. */
#ifndef __cplusplus
#define HAIRSPRING_SIZED(type) ((type){.size = sizeof(type)})
#endif
