/* The only program of the emulated Linux. The kernel's command line names the scenario:
 * hairspring=counters, nothing, tables or command. It prints its checks and switches the machine
 * off. */
#include "guest.h"

#include "slope.h"

#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>

#define CYCLES "hairspring_cycles"
#define DEVICE "/dev/" CYCLES
#define NOBODY 65534

#if defined(__aarch64__)
#define READ(into) "mrs " into ", pmccntr_el0"
#define WITHOUT_MODULE "cntvct"
#else
#define READ(into) "mrc p15, 0, " into ", c9, c13, 0"
#define WITHOUT_MODULE "perf read"
#endif
SLOPES(of_nop, READ, "nop")

/* ---- what a program sees --------------------------------------------------------------------- */

/* Interrupts lengthen single readings, so the shortest of several counts. */
static unsigned slopes_of_program_wrong(void) {
  unsigned wrong = 0;
  for (unsigned k = 0; k <= 20; k += 1) {
    unsigned long shortest = of_nop[k]();
    for (unsigned turn = 0; turn < 20; turn += 1) {
      unsigned long ticks = of_nop[k]();
      shortest = ticks < shortest ? ticks : shortest;
    }
    wrong += shortest != k + 1;
  }
  return wrong;
}

static int read_without_guard(void) {
  signal(SIGILL, SIG_DFL);
  (void)hairspring_pmccntr();
  return 0;
}

static void check_clock(const char *name, const char *why) {
  check(hairspring_clock_start(), "a clock starts");
  check_text("the clock", hairspring_clock_name(), name);
  check_text("the reason", hairspring_clock_why(), why);
}

/* The clock that was started, over a sleep that is longer than a wrap of 32 bits, and over
 * instructions. */
static void check_counting(uint64_t ticks_in_5_s) {
  (void)hairspring_clock_doubts();
  uint64_t before = hairspring_now();
  sleep_seconds(5);
  check_range("ticks in 5 s", hairspring_now() - before, ticks_in_5_s,
      ticks_in_5_s + ticks_in_5_s / 500);
  check_range("doubts", hairspring_clock_doubts(), 0, 0);
}

static void without_module(void) {
  check(in_child(read_without_guard) == 128 + SIGILL,
      "a read without permission is an illegal instruction");
  check_clock(WITHOUT_MODULE, "the kernel module " CYCLES " is not loaded");
  uint64_t before = hairspring_now();
  for (unsigned turn = 0; turn < 1000; turn += 1) (void)hairspring_now();
  check(hairspring_now() > before, "it counts");
  hairspring_clock_stop();
  check(load_module("hairspring_latency", "") == ENODEV,
      "hairspring_latency refuses a counter that is off");
}

static int start_as_nobody(void) {
  if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) return 1;
  failures = 0;
  check(hairspring_clock_start(), "a clock starts without permissions");
  check_text("the reason", hairspring_clock_why(), "no permission to open " DEVICE);
#if !defined(__aarch64__)
  check_text("the reason", hairspring_clock_why(), "no permission for perf events");
#endif
  return failures;
}

static void permissions(void) {
  check(chmod(DEVICE, 0400) == 0, "the device is closed to others");
  check(in_child(start_as_nobody) == 0, "no permission is a reason, not a crash");
  check(chmod(DEVICE, 0444) == 0, "the device is open again");
}

static int go_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 && sched_getcpu() == cpu;
}

/* ---- the module ------------------------------------------------------------------------------ */

static void settings(char *text, size_t size) {
  (void)load_module("peek", "");
  read_text("/sys/module/peek/parameters/results", text, size);
  (void)unload_module("peek");
}

/* Another module leaves the counter of CPU 0 on while this one is loaded. */
static void forces(void) {
  check(load_module("peek", "one=1") == 0, "another module has the counter of CPU 0 on");
  check(load_module(CYCLES, "") == EEXIST, "the module does not load then");
  check(load_module(CYCLES, "force=1") == 0, "but with force=1");
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME), "its clock starts");
  check_counting(5000000000u);
  hairspring_clock_stop();
  check(unload_module(CYCLES) == 0, "it unloads");
  check(go_to(0) && in_child(read_without_guard) == 0,
      "the other module's permission is handed back");
  check(unload_module("peek") == 0, "peek unloads");
}

static void loads_and_unloads(void) {
  char before[1024], after[1024];
  const char *text = getenv("loads");
  unsigned wrong = 0, loads = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 100;
  settings(before, sizeof before);
  for (unsigned turn = 0; turn < loads; turn += 1) {
    wrong += load_module(CYCLES, "") != 0;
    if (turn % 25 == 0) {
      settings(after, sizeof after);
      wrong += strcmp(before, after) == 0;
    }
    wrong += unload_module(CYCLES) != 0;
  }
  settings(after, sizeof after);
  printf("%u times load and unload\n", loads);
  check_range("failures", wrong, 0, 0);
  check(before[0] != 0 && strcmp(before, after) == 0, "every setting is handed back");
  if (strcmp(before, after) != 0) printf("%sbecame\n%s", before, after);
  check(in_child(read_without_guard) == 128 + SIGILL, "programs cannot read it any more");
}

static void parameters(void) {
  check(load_module(CYCLES, "keeper_ms=0") == EINVAL, "keeper_ms=0 is refused");
  check(load_module(CYCLES, "keeper_ms=5000") == EINVAL, "keeper_ms=5000 is refused");
#if defined(__aarch64__)
  check(load_module(CYCLES, "keeper_ms=4000") == 0,
      "64 bits do not wrap: keeper_ms=4000 is allowed");
  check(unload_module(CYCLES) == 0, "it unloads");
  check(load_module(CYCLES, "divided=1") == EINVAL, "divided=1 is refused on aarch64");
#else
  check(load_module(CYCLES, "keeper_ms=1001") == EINVAL,
      "keeper_ms=1001 is refused: a fast core wraps before");
  check(load_module(CYCLES, "divided=1 keeper_ms=4000") == 0, "the module loads with divided=1");
  check_clock("ccnt", "");
  check_counting(78125000);
  hairspring_clock_stop();
  check(unload_module(CYCLES) == 0, "it unloads");
#endif
  check(load_module(CYCLES, "user=0") == 0, "the module loads with user=0");
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME) == 0, "then its clock does not start");
  check_text("the reason", hairspring_clock_why(), "the core refuses the read");
  check(unload_module(CYCLES) == 0, "it unloads");
}

/* The program of docs/arm.md: its clock, no reason, and a table. */
static int run_documented(void) {
  int table = open("/documented.csv", O_WRONLY | O_CREAT | O_TRUNC, 0644),
      errors = open("/documented.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (dup2(table, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0) return 1;
  execl("/documented", "/documented", (char *)NULL);
  return 127;
}

static void documented(void) {
  char text[4096];
  check(in_child(run_documented) == 0, "the program of docs/arm.md ends");
  read_text("/documented.txt", text, sizeof text);
  check_text("its standard error", text, HAIRSPRING_CYCLES_NAME "\n\n");
  FILE *table = fopen("/documented.csv", "r");
  printf("begin of the table\n");
  while (table != NULL && fgets(text, sizeof text, table) != NULL) fputs(text, stdout);
  printf("end of the table\n");
  if (table != NULL) fclose(table);
}

static void with_module(void) {
  check(load_module(CYCLES, "") == 0, "the module loads");
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME), "its clock starts");
  check_text("the reason", hairspring_clock_why(), "");
  check_range("wrong slopes of nop, k = 0 to 20", slopes_of_program_wrong(), 0, 0);
  check_counting(5000000000u);
  check(unload_module(CYCLES) == EWOULDBLOCK, "the module stays while a program has it open");
  check(load_module("peek", "power=1") == 0,
      "the core loses its settings, as in a deep idle state");
  check(hairspring_clock_doubts() == HAIRSPRING_DOUBT_STOPPED, "which is a doubt");
  check(unload_module("peek") == 0, "peek unloads");
  check_counting(5000000000u);
  permissions();
  documented();
  /* the first choice: nothing else was tried, which could take the counter */
  check_clock(HAIRSPRING_CYCLES_NAME, "");
}

/* ---- perf ------------------------------------------------------------------------------------ */

/* Instructions that an event of perf counts in a loop. */
static uint64_t instructions_of_loop(int perf) {
  uint64_t before = 0, after = 0;
  (void)!read(perf, &before, sizeof before);
  for (volatile unsigned turn = 0; turn < 10000; turn += 1) {}
  (void)!read(perf, &after, sizeof after);
  return after - before;
}

/* The event counters have been perf's since the module was loaded: they go on. */
static void unloads_under_perf(void) {
  check(go_to(0), "the thread stays on CPU 0");
  /* of the CPU, so that no switch turns it on again */
  int perf = open_perf_event(PERF_COUNT_HW_INSTRUCTIONS, 0);
  check(perf >= 0, "perf counts the instructions of CPU 0");
  check_range("instructions while the module is loaded", instructions_of_loop(perf), 10000,
      UINT64_MAX);
  check(unload_module(CYCLES) == 0, "the module unloads");
  check_range("instructions afterwards", instructions_of_loop(perf), 10000, UINT64_MAX);
  close(perf);
}

static void perf_takes_it(void) {
  int perf = open_perf(1);
  check(perf >= 0, "perf opens the cycle counter for a thread");
  (void)hairspring_now();
  check(hairspring_clock_doubts() != 0, "ticks are doubtful while perf has the counter");
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME) == 0, "the clock does not start then");
  check_text("the reason", hairspring_clock_why(), "a perf event holds the counter");
  check(unload_module(CYCLES) == 0, "the module unloads");
  close(perf);
  perf = open_perf(0);
  check(perf >= 0, "perf opens the cycle counter of a CPU");
  check(load_module(CYCLES, "") == EBUSY, "the module does not load while perf has the counter");
  check(load_module(CYCLES, "force=1") == EBUSY, "nor with force=1");
  close(perf);
  close(open_perf(1));
  check(load_module(CYCLES, "") == 0,
      "it loads afterwards, and counts in the kernel too, which perf did not");
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME), "the clock starts again");
  check_counting(5000000000u);
  perf = open_perf(1);
  check((hairspring_clock_doubts() & HAIRSPRING_DOUBT_STOPPED) != 0,
      "the module sees that perf has the counter");
  close(perf);
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME),
      "the clock starts as soon as perf has given it back");
  hairspring_clock_stop();
  unloads_under_perf();
}

#if defined(__aarch64__)
/* perf's page, whose counter counts only while the thread runs. */
static void perf_page(void) {
  check(write_text(USER_ACCESS, "1"), "kernel.perf_user_access = 1");
  check_clock("perf cycles",
      HAIRSPRING_CYCLES_NAME ": the kernel module hairspring_cycles is not loaded");
  check_range("wrong slopes of nop, k = 0 to 20", slopes_of_program_wrong(), 0, 0);
  (void)hairspring_clock_doubts();
  uint64_t before = hairspring_now();
  __asm__ volatile("mov x9, #10000\n1:\tsubs x9, x9, #1\n\tb.ne 1b" : : : "x9", "cc");
  check_range("ticks of 20001 instructions", hairspring_now() - before, 20001, 40000);
  check_range("doubts", hairspring_clock_doubts(), 0, 0);
  hairspring_clock_stop();
  check(write_text(USER_ACCESS, "0"), "kernel.perf_user_access = 0");
  check(hairspring_clock_start_only("perf cycles") == 0, "then it does not start");
  check_text("the reason", hairspring_clock_why(), "kernel.perf_user_access = 1 allows it");
}
#else
static void perf_page(void) {}
#endif

/* ---- several cores --------------------------------------------------------------------------- */

static void cores(void) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
    printf("one core: no migration and no hotplug here\n");
    return;
  }
  check(load_module(CYCLES, "") == 0 && go_to(0), "the module loads");
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME), "the clock starts on CPU 0");
  check(hairspring_clock_doubts() == 0, "no doubts");
  check(go_to(1), "the thread goes to CPU 1");
  (void)hairspring_now();
  check(hairspring_clock_doubts() == HAIRSPRING_DOUBT_MIGRATED,
      "a read after migration is doubtful");
  check_counting(5000000000u);
  check(go_to(0) && write_text("/sys/devices/system/cpu/cpu1/online", "0"), "CPU 1 goes offline");
  check(write_text("/sys/devices/system/cpu/cpu1/online", "1") && go_to(1), "and comes back");
  (void)hairspring_now();
  check(hairspring_clock_doubts() == HAIRSPRING_DOUBT_STOPPED, "a read after that is doubtful");
  check_counting(5000000000u);
  char status[512];
  read_text(DEVICE, status, sizeof status);
  check_text("the module", status, "cpu 1: on, disturbed 0 times, powered down 1 times");
  hairspring_clock_stop();
  check(unload_module(CYCLES) == 0 && go_to(0), "the module unloads");
}

/* ---- scenarios ------------------------------------------------------------------------------- */

static void run_counters(void) {
  without_module();
  with_module();
  perf_takes_it();
  perf_page();
  parameters();
  forces();
  loads_and_unloads();
  cores();
}

/* The Cortex-A8's board is the only one that is named. QEMU's A8 has a counter that never counts
 * and no generic timer. */
static const char *board(void) { return getenv("board"); }

/* A core without a counter that counts. */
static void run_nothing(void) {
  check(hairspring_clock_start(), "a clock starts");
  check_text("the reason", hairspring_clock_why(),
      board() == NULL ? "perf knows no cycle counter here"
      : "perf read: it accepts its settings but does not count");
  printf("the clock is %s: %s\n", hairspring_clock_name(), hairspring_clock_why());
  check(strcmp(hairspring_clock_name(), "cntvct") == 0 ||
      strcmp(hairspring_clock_name(), "monotonic") == 0, "it is one of the system's");
  check(hairspring_clock_hz() > 0, "its rate is known");
  check(load_module(CYCLES, "") == ENODEV, "the module refuses to load");
}

static int prepare(void) {
  (void)mkdir("/proc", 0755), (void)mkdir("/sys", 0755), (void)mkdir("/dev", 0755);
  return mount("proc", "/proc", "proc", 0, NULL) == 0 &&
      mount("sysfs", "/sys", "sysfs", 0, NULL) == 0 &&
         (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) == 0 || errno == EBUSY);
}

int main(void) {
  const char *scenario = getenv("hairspring");
  setvbuf(stdout, NULL, _IOLBF, 0);
  check(prepare(), "the machine is up");
  if (scenario != NULL && strcmp(scenario, "tables") == 0) run_tables();
  else if (scenario != NULL && strcmp(scenario, "nothing") == 0) run_nothing();
  else if (scenario != NULL && strcmp(scenario, "command") == 0) run_command();
  else run_counters();
  printf("end: %d failures\n", failures);
  fflush(stdout);
  sync();
  if (board() != NULL) (void)load_module("peek", "leave=1");
  reboot(RB_POWER_OFF);
  for (;;) pause();
}
