/* The bias of empty spans after subtraction of the overhead, and the cost of a read of the clock.
 * Prints `what,value` lines: the mean of the spans in ticks for the header's stopwatch and for the
 * library's, and the cost of hairspring_now() over that of a bare ordered read, once with and once
 * without the 64-bit value of the bare one. */
#define HAIRSPRING_ENGINE
#include "hairspring.h"

#include <stdio.h>
#include <stdlib.h>

#define SPANS 40000u
#define ROUNDS 400u

static uint32_t random_number = 2463534242u;

static uint32_t next_random(void) {
  random_number ^= random_number << 13, random_number ^= random_number >> 17,
      random_number ^= random_number << 5;
  return random_number;
}

/* A span may begin anywhere between two steps of the clock. */
static void dither(void) {
  for (uint32_t turns = next_random() % 300; turns > 0; turns -= 1) HAIRSPRING_OPAQUE(turns);
}

struct sum {
  double of, count;
};

/* Interrupted spans are left out. */
static void add(struct sum *sum, double span, double overhead) {
  if (span < 6.0 * overhead) sum->of += span, sum->count += 1.0;
}

static void bias_of_spans(void) {
  hairspring_stopwatch *stopwatch = NULL;
  hairspring_span span = HAIRSPRING_SIZED(hairspring_span);
  hairspring_elapsed elapsed = HAIRSPRING_SIZED(hairspring_elapsed);
  struct sum library = {0.0, 0.0}, header = {0.0, 0.0};
  if (hairspring_stopwatch_new(NULL, &stopwatch) != HAIRSPRING_STATUS_OK) exit(1);
  struct hairspring_watch watch = hairspring_watch_new();
  hairspring_stopwatch_start(stopwatch);
  hairspring_stopwatch_stop(stopwatch, &span);
  if (hairspring_stopwatch_elapsed(stopwatch, &span, 0.0, &elapsed) != HAIRSPRING_STATUS_OK)
    exit(1);
  for (unsigned at = 0; at < SPANS; at += 1) {
    dither();
    hairspring_stopwatch_start(stopwatch);
    hairspring_stopwatch_stop(stopwatch, &span);
    add(&library, (double)span.ticks, elapsed.overhead_ticks);
    dither();
    hairspring_watch_start(&watch);
    double ticks = hairspring_watch_ticks(&watch);
    add(&header, ticks + watch.overhead_ticks, watch.overhead_ticks);
  }
  printf("library overhead,%.6f\nlibrary bias,%.6f\n", elapsed.overhead_ticks,
      library.of / library.count - elapsed.overhead_ticks);
  printf("header overhead,%.6f\nheader bias,%.6f\n", watch.overhead_ticks,
      header.of / header.count - watch.overhead_ticks);
  hairspring_stopwatch_free(stopwatch);
}

/* The same instructions by hand, with the value that the header gives, and without. */
static inline uint64_t bare_read(void) {
  uint32_t low, high;
  __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
  return (uint64_t)high << 32 | low;
}

__attribute__((noinline))
    static void by_header(void) { HAIRSPRING_REPEAT_256(HAIRSPRING_USE(hairspring_now())) }
__attribute__((noinline))
    static void by_hand(void) { HAIRSPRING_REPEAT_256(HAIRSPRING_USE(bare_read())) }
__attribute__((noinline)) static void by_hand_without_value(void) {
  HAIRSPRING_REPEAT_256(__asm__ volatile("lfence\n\trdtsc\n\tlfence" : : : "rax", "rdx", "memory"))
}

static int by_size(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double ticks_of(void (*reads)(void)) {
  uint64_t begin = hairspring_now();
  reads();
  return (double)(hairspring_now() - begin);
}

/* Both run in every round, in turn: the median of their ratios. */
static double ratio(void (*of)(void), void (*over)(void)) {
  static double ratios[ROUNDS];
  for (unsigned at = 0; at < ROUNDS; at += 1) {
    int first = (int)(next_random() & 1u);
    double a = first ? ticks_of(of) : 0.0, b = ticks_of(over);
    if (!first) a = ticks_of(of);
    ratios[at] = a / b;
  }
  qsort(ratios, ROUNDS, sizeof ratios[0], by_size);
  return (ratios[ROUNDS / 2 - 1] + ratios[ROUNDS / 2]) / 2.0;
}

int main(void) {
  bias_of_spans();
  printf("read ratio,%.6f\n", ratio(by_header, by_hand));
  printf("read ratio without value,%.6f\n", ratio(by_header, by_hand_without_value));
  return 0;
}
