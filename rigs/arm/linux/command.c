/* The command (crates/hairspring-cli) and a program that is linked with the engine, in the emulated
 * Linux, with each of its counters. What they print is for ../command.py; each run is between a
 * line `run NAME` and a line `ended NAME STATUS`. */
#include "guest.h"

#include <dirent.h>

#define COMMAND "/hairspring"
#define PROGRAM "/benchmarks"
#define SPAN "/span"
#define SURVEY COMMAND, "clocks", "--json", "--budget", "50ms", "pmccntr", "perf", "perf_read", \
    "cntvct", "monotonic"

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

static long since_start(void) {
  struct timespec now = {0, 0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (long)now.tv_sec;
}

static void ended(const char *name, pid_t child) {
  int status = -1;
  (void)waitpid(child, &status, 0);
  printf("\nended %s %d\n", name,
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  char counters[512]; /* what the module says of its counter, for somebody who looks */
  read_text("/dev/" HAIRSPRING_CYCLES_DEVICE, counters, sizeof counters);
  printf("%safter %ld s\n", counters, since_start());
}

#define RUN(name, ...) run_one(name, (const char *const[]){__VA_ARGS__, NULL})
static void run_one(const char *name, const char *const *words) {
  printf("run %s\n", name);
  ended(name, start(words));
}

/* ---- what happens to a run ------------------------------------------------------------------- */

/* Lets the command or the program begin for some time, and then does something to it again and
 * again until it ends. */
static void run_disturbed(const char *name, const char *const *words, long begin_ms,
    void (*disturb)(pid_t)) {
  siginfo_t child_ended = {0};
  unsigned times = 0;
  printf("run %s\n", name);
  pid_t child = start(words);
  sleep_ms(begin_ms);
  for (; waitid(P_PID, (id_t)child, &child_ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      child_ended.si_pid != child; times += 1) {
    if (disturb != NULL) disturb(child);
    sleep_ms(60);
  }
  ended(name, child);
  printf("disturbed %s %u times\n", name, times);
}

/* The same on CPU 0. */
static void run_there(const char *name, const char *const *words, long begin_ms,
    void (*disturb)(pid_t)) {
  cpu_set_t anywhere, first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  check(sched_getaffinity(0, sizeof anywhere, &anywhere) == 0 &&
      sched_setaffinity(0, sizeof first, &first) == 0, "on CPU 0");
  run_disturbed(name, words, begin_ms, disturb);
  check(sched_setaffinity(0, sizeof anywhere, &anywhere) == 0, "anywhere");
}

/* How many saved readings have the flag of a disturbed one. The columns: series, body, round, flags
 * ... */
static void count_flags(const char *name) {
  char path[64], line[256];
  unsigned readings = 0, flagged = 0;
  int column = -1;
  snprintf(path, sizeof path, "/tmp/%s/01-multiply.csv", name);
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char *rest = line, *field = NULL;
    int at = 0, header = column < 0;
    if (line[0] == '#') continue;
    for (; (field = strsep(&rest, ",\n")) != NULL; at += 1) {
      if (header && strcmp(field, "flags") == 0) column = at;
      if (!header && at == column) flagged += strchr(field, 's') != NULL;
    }
    readings += !header;
  }
  if (file != NULL) fclose(file);
  printf("flagged %s %u of %u\n", name, flagged, readings);
}

/* perf takes the counter of CPU 0 for a moment. */
static void perf_takes_counter(pid_t child) {
  (void)child;
  int perf = open_perf(0);
  sleep_ms(20);
  if (perf >= 0) close(perf);
}

/* The same interruptions, and nothing takes the counter. */
static void nothing_happens(pid_t child) {
  (void)child;
  sleep_ms(20);
}

/* Another module takes the permission from programs. */
static void access_goes(pid_t child) {
  (void)child;
  if (load_module("peek", "closed=1") == 0) (void)unload_module("peek");
}

/* All threads of a process go to the other CPU. */
static void thread_moves(pid_t child) {
  static int cpu;
  char path[32];
  struct dirent *entry;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)(cpu = 1 - cpu), &set);
  snprintf(path, sizeof path, "/proc/%d/task", (int)child);
  DIR *threads = opendir(path);
  while (threads != NULL && (entry = readdir(threads)) != NULL) {
    int thread = atoi(entry->d_name);
    if (thread > 0) (void)sched_setaffinity(thread, sizeof set, &set);
  }
  if (threads != NULL) closedir(threads);
}

/* CPU 1 goes offline and comes back. */
static void cpu_goes(pid_t child) {
  (void)child;
  (void)write_text("/sys/devices/system/cpu/cpu1/online", "0");
  sleep_ms(20);
  (void)write_text("/sys/devices/system/cpu/cpu1/online", "1");
}

#define DISTURB(name, cpu, clock, disturb)                                                       \
  do {                                                                                           \
    run_disturbed(name, (const char *const[]){PROGRAM, "multiply", "--json", "--budget", "1s",   \
        "--precision", "0.0001%", "--cpu", cpu, "--clock", clock, "--save", "/tmp/" name, NULL}, \
        300, disturb);                                                                           \
    count_flags(name);                                                                           \
  } while (0)
/* For half a second it looks at its clocks, and refuses one that is disturbed then; later it holds
 * the module. */
#define DISTURB_PERIOD(name, begin_ms, disturb) \
  run_disturbed(name, (const char *const[]){COMMAND, "period", "10ms", "--duration", "3s", \
      "--cpu", "0", "--clock", "pmccntr", "--json", NULL}, begin_ms, disturb)

static void with_module(void) {
  check(load_module(HAIRSPRING_CYCLES_DEVICE, "") == 0, "the module loads");
  RUN("module", SURVEY);
  RUN("mhz", COMMAND, "mhz", "--json");
  RUN("verify", COMMAND, "verify", "--json", "--budget", "20ms", "--runs", "4");
  RUN("alone", PROGRAM, "multiply", "--json", "--budget", "100ms");
  RUN("benchmarks", COMMAND, "run", PROGRAM, "multiply", "--json", "--budget", "100ms");
  RUN("span", SPAN, "pmccntr", "1000", "2000", "5000", "1000");
  DISTURB("calm", "0", "pmccntr", nothing_happens);
  DISTURB("taken", "0", "pmccntr", perf_takes_counter);
  run_there("survey_taken", (const char *const[]){SURVEY, NULL}, 60, perf_takes_counter);
  DISTURB_PERIOD("period_calm", 1500, nothing_happens);
  DISTURB_PERIOD("period_taken", 1500, perf_takes_counter);
  if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
    DISTURB("moved", "0", "pmccntr", thread_moves);
    DISTURB("offline", "1", "pmccntr", cpu_goes);
  }
  DISTURB_PERIOD("lost", 1500, access_goes);
  check(unload_module(HAIRSPRING_CYCLES_DEVICE) == 0, "the module unloads");
}

/* Counters that somebody else's module has left: off, or on CPU 0 alone. */
static void with_other_modules(void) {
  check(load_module("peek", "still=1") == 0, "programs may read a counter that is off");
  RUN("still", SURVEY);
  check(unload_module("peek") == 0, "peek unloads");
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
  check(load_module("peek", "one=1") == 0, "programs may read the counter of CPU 0 alone");
  RUN("other_cpu", PROGRAM, "multiply", "--json", "--budget", "100ms", "--clock", "pmccntr",
      "--cpu", "1");
  check(unload_module("peek") == 0, "peek unloads");
}

/* The module without access for programs: it keeps the counter from perf. */
static void with_closed_module(void) {
  check(load_module(HAIRSPRING_CYCLES_DEVICE, "user=0") == 0, "the module loads with user=0");
  RUN("closed", SURVEY);
  RUN("closed_benchmarks", PROGRAM, "multiply", "--json", "--budget", "100ms", "--clock",
      "pmccntr");
  check(unload_module(HAIRSPRING_CYCLES_DEVICE) == 0, "it unloads");
}

/* perf holds the cycle counter of CPU 0, where the command runs. */
static void with_held_counter(const char *name) {
  int perf = open_perf(0);
  check(perf >= 0, "perf holds the cycle counter of CPU 0");
  run_there(name, (const char *const[]){SURVEY, NULL}, 0, NULL);
  close(perf);
}

#if defined(__aarch64__)
/* perf's permission for programs is withdrawn. */
static void perf_closes(pid_t child) {
  (void)child;
  (void)write_text(USER_ACCESS, "0");
}

static void with_perf(void) {
  check(write_text(USER_ACCESS, "1"), "kernel.perf_user_access = 1");
  RUN("perf", SURVEY);
  RUN("by_perf", PROGRAM, "multiply", "--json", "--budget", "100ms", "--clock", "perf");
  RUN("perf_forked", SPAN, "perf", "050");
  with_held_counter("perf_held");
  DISTURB("perf_taken", "0", "perf", perf_takes_counter);
  DISTURB("perf_closed", "0", "perf", perf_closes);
}
#else
static void with_perf(void) {}
#endif

void run_command(void) {
  RUN("bare", SURVEY);
  RUN("refused", COMMAND, "period", "10ms", "--duration", "100ms", "--clock", "pmccntr");
  with_other_modules();
  with_closed_module();
  with_held_counter("held");
  with_module();
  RUN("by_perf_read", PROGRAM, "multiply", "--json", "--budget", "100ms", "--clock", "perf_read");
  RUN("forked", SPAN, "perf_read", "050");
  with_perf();
}
