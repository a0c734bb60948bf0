/* The engine's stopwatch over sleeps, in the emulated Linux:
 *
 *   span CLOCK MS...      a time that begins with 0 is slept by a child process, with the stopwatch
 *                         of its parent
 *
 * For each sleep it prints `span MS: NS LOW HIGH SYSTEM`, where SYSTEM is the time by the system's
 * clock, read outside of the stopwatch; or `span MS: refused: REASON`. Exit status 2 if there is no
 * stopwatch. */
#include "hairspring_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *last_error(void) {
  static char text[1024];
  (void)hairspring_last_error(text, sizeof text);
  return text;
}

static void sleep_for(long ms) {
  struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&wait, NULL);
}

static double system_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Times a sleep. */
static void measure(hairspring_stopwatch *stopwatch, long ms) {
  hairspring_span span = {.size = sizeof span};
  hairspring_elapsed elapsed = {.size = sizeof elapsed};
  if (hairspring_stopwatch_start(stopwatch) != HAIRSPRING_STATUS_OK) {
    printf("span %ld: not started: %s\n", ms, last_error());
    return;
  }
  double before = system_ns();
  sleep_for(ms);
  double passed = system_ns() - before;
  if (hairspring_stopwatch_stop(stopwatch, &span) == HAIRSPRING_STATUS_OK &&
      hairspring_stopwatch_elapsed(stopwatch, &span, 0.95, &elapsed) == HAIRSPRING_STATUS_OK)
    printf("span %ld: %.0f %.0f %.0f %.0f\n", ms, elapsed.ns.value, elapsed.ns.low, elapsed.ns.high,
        passed);
  else printf("span %ld: refused: %s\n", ms, last_error());
}

static void measure_in_child(hairspring_stopwatch *stopwatch, long ms) {
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    measure(stopwatch, ms);
    fflush(stdout);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0)
    printf("span %ld: the child ended with %d\n", ms, status);
}

int main(int count, char **words) {
  hairspring_stopwatch *stopwatch = NULL;
  if (count < 3 || hairspring_stopwatch_new(words[1], &stopwatch) != HAIRSPRING_STATUS_OK) {
    printf("no stopwatch: %s\n", count < 3 ? "name a clock and times in ms" : last_error());
    return 2;
  }
  for (int at = 2; at < count; at += 1)
    (words[at][0] == '0' ? measure_in_child : measure)(stopwatch, strtol(words[at], NULL, 10));
  hairspring_stopwatch_free(stopwatch);
  return 0;
}
