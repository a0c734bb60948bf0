/* Benchmarks whose code ends the program: the message names the benchmark. */
#include "hairspring.h"
#include <stdlib.h>

static volatile int countdown = 100;

static void crash(void) {
  if (--countdown == 0) *(volatile int *)0 = 1;
}

static void leave(void) {
  if (--countdown == 0) exit(7);
}

static void give_up(void) {
  if (--countdown == 0) abort();
}

HAIRSPRING_BENCHMARK(crashes, (void (*volatile function)(void) = crash), function());
HAIRSPRING_BENCHMARK(leaves, (void (*volatile function)(void) = leave), function());
HAIRSPRING_BENCHMARK(aborts, (void (*volatile function)(void) = give_up), function());

HAIRSPRING_MAIN({.benchmark = &crashes}, {.benchmark = &leaves}, {.benchmark = &aborts})
