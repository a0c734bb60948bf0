/* One evaluation of a cost function from a cold start against 100,000 evaluations in a loop, as in
 * Figure 5 and Table 3 of "A precise timing routine" (StopWatch): directly, by GCA and by TANA-3
 * (cam.h).
 *
 *   hairspring run cam.c
 *   cc -O2 -I../../../probe cam.c -lm -o cam && ./cam > cam.csv && hairspring fit cam.csv
 *
 * It prints observations. The series of each function are
 *
 *   single         the caches hold something else when it begins: this program has just passed over
 *                  4 MiB of other data. `first` is the first evaluation after that, `next` each one
 *                  that follows it. Each ends before the next one begins, as in an optimisation,
 *                  where the next design depends on the cost of the one before
 *   loop           25,000 to 100,000 evaluations in a loop, in which the core overlaps them
 *   loop cpu_time  the same loops by the processor time that the system counts (the paper's
 *                  CPU_TIME)
 *
 * All times come from straight lines over the number of evaluations, so the reads of the clocks
 * cancel. With any argument it runs shortened loops in a single round: `hairspring run` asks for
 * the names of the series in this way. */
#include "hairspring.h"

#include "cam.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* More than the second-level cache of the cores of today. */
#define OTHER_DOUBLES ((4u << 20) / sizeof(double))
#define LINE_DOUBLES (64u / sizeof(double))

#define FUNCTIONS 3u
#define SINGLES 5u
#define LOOPS 4u
#define SINGLE_ROUNDS 1000u
#define LOOP_ROUNDS 12u

static struct cam_gca gca;
static struct cam_tana3 tana3;
static double design[2] = {0.88, 0.25};
static double other[OTHER_DOUBLES];

static double by_gca(const double x[2]) { return cam_gca_cost(&gca, x); }
static double by_tana3(const double x[2]) { return cam_tana3_cost(&tana3, x); }

typedef double (*cost_function)(const double x[2]);

static const struct {
  const char *name;
  cost_function cost;
} functions[FUNCTIONS] = {{"direct", cam_cost}, {"GCA", by_gca}, {"TANA-3", by_tana3}};

/* Numbers of evaluations between two reads of the clock. */
static const unsigned singles[SINGLES] = {0, 1, 2, 4, 8};
static const unsigned loops[LOOPS] = {25000, 50000, 75000, 100000};

static double single_ticks[SINGLE_ROUNDS][FUNCTIONS][SINGLES];
static double loop_ticks[LOOP_ROUNDS][FUNCTIONS][LOOPS];
static double loop_cpu_ns[LOOP_ROUNDS][FUNCTIONS][LOOPS];

/* Other work, after which the caches hold other data. */
static void pass_over_other_data(void) {
  for (size_t at = 0; at < OTHER_DOUBLES; at += LINE_DOUBLES) other[at] += 1.0;
  HAIRSPRING_USE(&other[0]);
  HAIRSPRING_USE_MEMORY();
}

/* Ticks of so many evaluations, each of which ends before the next one begins. The compiler knows
 * neither the function nor the design. */
static double one_by_one(cost_function cost, unsigned times) {
  HAIRSPRING_OPAQUE(cost);
  uint64_t begin = hairspring_now();
  for (unsigned time = 0; time < times; time += 1) {
    double value = cost(design);
    HAIRSPRING_USE(value);
    HAIRSPRING_FENCE();
  }
  return (double)(hairspring_now() - begin);
}

/* Ticks of so many evaluations in a loop. */
static double in_a_loop(cost_function cost, unsigned times) {
  HAIRSPRING_OPAQUE(cost);
  uint64_t begin = hairspring_now();
  for (unsigned time = 0; time < times; time += 1) {
    double value = cost(design);
    HAIRSPRING_USE(value);
    HAIRSPRING_USE_MEMORY();
  }
  return (double)(hairspring_now() - begin);
}

/* The numbers from 0 in random order. */
static void shuffle(unsigned *order, unsigned count) {
  for (unsigned at = 0; at < count; at += 1) order[at] = at;
  for (unsigned left = count; left > 1; left -= 1) {
    unsigned at = (unsigned)rand() % left, moved = order[at];
    order[at] = order[left - 1], order[left - 1] = moved;
  }
}

static void run_singles(unsigned rounds) {
  unsigned order[FUNCTIONS * SINGLES];
  for (unsigned round = 0; round < rounds; round += 1) {
    shuffle(order, FUNCTIONS * SINGLES);
    for (unsigned at = 0; at < FUNCTIONS * SINGLES; at += 1) {
      unsigned function = order[at] / SINGLES, row = order[at] % SINGLES;
      pass_over_other_data();
      single_ticks[round][function][row] = one_by_one(functions[function].cost, singles[row]);
    }
  }
}

static void run_loops(unsigned rounds, unsigned shortened) {
  unsigned order[FUNCTIONS * LOOPS];
  for (unsigned round = 0; round < rounds; round += 1) {
    shuffle(order, FUNCTIONS * LOOPS);
    for (unsigned at = 0; at < FUNCTIONS * LOOPS; at += 1) {
      unsigned function = order[at] / LOOPS, row = order[at] % LOOPS;
      in_a_loop(functions[function].cost, 1);
      clock_t before = clock();
      loop_ticks[round][function][row] =
          in_a_loop(functions[function].cost, loops[row] / shortened);
      loop_cpu_ns[round][function][row] = (double)(clock() - before) * (1e9 / CLOCKS_PER_SEC);
    }
  }
}

static void print_all(unsigned single_rounds, unsigned loop_rounds, unsigned shortened,
    double ns_per_tick) {
  printf("# hairspring observations: 1\nseries,first,next,evaluation,round,time_ns\n");
  for (unsigned function = 0; function < FUNCTIONS; function += 1) {
    const char *name = functions[function].name;
    for (unsigned round = 0; round < single_rounds; round += 1)
      for (unsigned row = 0; row < SINGLES; row += 1)
        printf("%s single,%d,%u,0,%u,%.3f\n", name, singles[row] > 0,
            singles[row] > 0 ? singles[row] - 1 : 0, round,
               single_ticks[round][function][row] * ns_per_tick);
    for (unsigned round = 0; round < loop_rounds; round += 1)
      for (unsigned row = 0; row < LOOPS; row += 1) {
        printf("%s loop,0,0,%u,%u,%.3f\n", name, loops[row] / shortened, round,
            loop_ticks[round][function][row] * ns_per_tick);
        printf("%s loop cpu_time,0,0,%u,%u,%.3f\n", name, loops[row] / shortened, round,
            loop_cpu_ns[round][function][row]);
      }
  }
}

int main(int argc, char **argv) {
  (void)argv;
  unsigned single_rounds = argc > 1 ? 1 : SINGLE_ROUNDS, loop_rounds = argc > 1 ? 1 : LOOP_ROUNDS,
      shortened = argc > 1 ? 1000 : 1;
  /* The start of the paper's optimisation, and a point on the way to its result. */
  struct cam_known previous = cam_known(0.75, 0.75), current = cam_known(0.9, 0.2);
  gca = cam_gca(&previous, &current);
  tana3 = cam_tana3(&previous, &current);

  uint64_t system_begin = hairspring_system_now(), begin = hairspring_now();
  run_singles(single_rounds);
  run_loops(loop_rounds, shortened);
  double ticks = (double)(hairspring_now() - begin);
  double ns = (double)(hairspring_system_now() - system_begin) *
      (1e9 / (double)hairspring_system_hz());
  print_all(single_rounds, loop_rounds, shortened, ns / ticks);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
