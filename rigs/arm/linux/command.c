/* The command (crates/hairspring-cli) and a program that is linked with the engine, in the emulated Linux, with each of its counters. What
 * they print is for ../command.py; each run is between a line `run NAME` and a line `ended NAME STATUS`. */
#include "guest.h"

#define COMMAND "/hairspring"
#define PROGRAM "/benchmarks"
#define SURVEY COMMAND, "clocks", "--json", "--budget", "50ms", "pmccntr", "perf", "perf_read", "cntvct", "monotonic"

static pid_t start(const char *const *words) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    (void)dup2(STDOUT_FILENO, STDERR_FILENO);
    (void)setenv("HAIRSPRING_HISTORY", "off", 1);
    execv(words[0], (char *const *)(uintptr_t)words);
    printf("cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
  }
  return child;
}

static void ended(const char *name, pid_t child) {
  int status = -1;
  (void)waitpid(child, &status, 0);
  printf("\nended %s %d\n", name, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  char counters[512]; /* what the module says of its counter, for somebody who looks */
  read_text("/dev/" HAIRSPRING_CYCLES_DEVICE, counters, sizeof counters);
  printf("%s", counters);
}

#define RUN(name, ...) run_one(name, (const char *const[]){__VA_ARGS__, NULL})
static void run_one(const char *name, const char *const *words) {
  printf("run %s\n", name);
  ended(name, start(words));
}

/* The module is unloaded while the command reads the counter, as if somebody else did. */
static void run_without_ground(void) {
  printf("run lost\n");
  pid_t child = start((const char *const[]){COMMAND, "period", "10ms", "--duration", "60s", "--clock", "pmccntr", NULL});
  sleep_seconds(3);
  check(unload_module(HAIRSPRING_CYCLES_DEVICE) == 0, "the module unloads while the command runs");
  ended("lost", child);
}

void run_command(void) {
  RUN("bare", SURVEY);
  RUN("refused", COMMAND, "period", "10ms", "--duration", "100ms", "--clock", "pmccntr");
  check(load_module(HAIRSPRING_CYCLES_DEVICE, "") == 0, "the module loads");
  RUN("module", SURVEY);
  RUN("mhz", COMMAND, "mhz", "--json");
  RUN("alone", PROGRAM, "multiply", "--json", "--budget", "100ms");
  RUN("benchmarks", COMMAND, "run", PROGRAM, "multiply", "--json", "--budget", "100ms");
  run_without_ground();
#if defined(__aarch64__)
  check(write_text(USER_ACCESS, "1"), "kernel.perf_user_access = 1");
  RUN("perf", SURVEY);
  RUN("by_perf", PROGRAM, "multiply", "--json", "--budget", "100ms", "--clock", "perf");
#endif
}
