/* The measurements for the tables: in the kernel by hairspring_latency, and the same in a program.
 * Each line is: place, experiment, method, number of values, sum, minimum, maximum. */
#include "guest.h"

#define MOST_REPEATS 100000u

struct spread {
  unsigned count;
  int64_t sum, least, most;
};

static void add(struct spread *spread, int64_t value) {
  if (spread->count == 0 || value < spread->least) spread->least = value;
  if (spread->count == 0 || value > spread->most) spread->most = value;
  spread->sum += value;
  spread->count += 1;
}

static void put(const char *experiment, const char *method, const struct spread *spread) {
  printf("user %s %s %u %lld %lld %lld\n", experiment, method, spread->count,
      (long long)spread->sum, (long long)spread->least, (long long)spread->most);
}

/* ---- the methods ----------------------------------------------------------------------------- */

static int64_t by_vdso(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The call of the kernel without the library's shortcut. */
static int64_t by_system_call(void) {
  long now[2] = {0, 0};
  syscall(SYS_clock_gettime, CLOCK_REALTIME, now);
  return (int64_t)now[0] * 1000000000 + now[1];
}

static int64_t by_cycles(void) { return (int64_t)hairspring_cycles_raw(); }
static int64_t by_now(void) { return (int64_t)hairspring_now(); }

struct method {
  const char *name;
  int64_t (*read)(void);
};
static const struct method methods[] =
    {{"vdso", by_vdso}, {"syscall", by_system_call}, {"cycles", by_cycles}, {"now", by_now}};

/* The raw counter may have 32 bits. */
static int64_t step(int64_t before, int64_t after, int64_t (*read)(void)) {
  return read == by_cycles ? (int64_t)(unsigned long)((unsigned long)after - (unsigned long)before)
      : after - before;
}

/* ---- the experiments ------------------------------------------------------------------------- */

static int64_t moments[MOST_REPEATS];

static void consecutive(const struct method *method, unsigned repeats) {
  struct spread spread = {0, 0, 0, 0};
  for (unsigned at = 0; at < repeats; at += 1) moments[at] = method->read();
  for (unsigned at = 1; at < repeats; at += 1)
    add(&spread, step(moments[at - 1], moments[at], method->read));
  put("consecutive", method->name, &spread);
}

/* Ticks of the counter for one call, less those of reading the counter. */
static void calls(const struct method *method, unsigned repeats) {
  struct spread spread = {0, 0, 0, 0};
  for (unsigned at = 0; at < repeats; at += 1) {
    unsigned long first = hairspring_cycles_raw(), second = hairspring_cycles_raw();
    (void)method->read();
    unsigned long third = hairspring_cycles_raw();
    add(&spread, (int64_t)(third - second) - (int64_t)(second - first));
  }
  put("call", method->name, &spread);
}

static void sleep_until(struct timespec *due, unsigned seconds, long nanoseconds) {
  due->tv_sec += (time_t)seconds, due->tv_nsec += nanoseconds;
  if (due->tv_nsec >= 1000000000) due->tv_sec += 1, due->tv_nsec -= 1000000000;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

static void pairs(const char *experiment, const struct method *method, unsigned sleeps,
    unsigned even_seconds) {
  struct spread spread = {0, 0, 0, 0};
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (unsigned at = 0; at < sleeps; at += 1) {
    sleep_until(&due, at % 2 ? even_seconds : 1, 0);
    int64_t first = method->read(), second = method->read();
    add(&spread, step(first, second, method->read));
  }
  put(experiment, method->name, &spread);
}

static void periods(const char *experiment, const struct method *method, unsigned repeats,
    long nanoseconds) {
  struct spread spread = {0, 0, 0, 0};
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (unsigned at = 0; at < repeats; at += 1) {
    sleep_until(&due, 0, nanoseconds);
    moments[at] = method->read();
  }
  for (unsigned at = 1; at < repeats; at += 1)
    add(&spread, step(moments[at - 1], moments[at], method->read));
  put(experiment, method->name, &spread);
}

static void measure(unsigned repeats, unsigned sleeps) {
  for (size_t at = 0; at < sizeof methods / sizeof methods[0]; at += 1) {
    consecutive(&methods[at], repeats);
    calls(&methods[at], repeats);
    pairs("every_1s", &methods[at], sleeps, 1);
    pairs("every_1s_5s", &methods[at], sleeps, 5);
    periods("period_100us", &methods[at], repeats, 100000);
    periods("period_1ms", &methods[at], repeats, 1000000);
  }
}

/* A number of the kernel's command line. */
static unsigned setting(const char *name, unsigned otherwise, unsigned most) {
  const char *text = getenv(name);
  unsigned long number = text == NULL ? otherwise : strtoul(text, NULL, 10);
  return number < 2 ? 2 : number > most ? most : (unsigned)number;
}

static void put_kernel(unsigned repeats, unsigned sleeps) {
  char text[2048], parameters[64];
  snprintf(parameters, sizeof parameters, "repeats=%u sleeps=%u", repeats, sleeps);
  check(load_module("hairspring_latency", parameters) == 0, "hairspring_latency loads");
  read_text("/sys/module/hairspring_latency/parameters/results", text, sizeof text);
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
    printf("kernel %s\n", line);
}

void run_tables(void) {
  unsigned repeats = setting("repeats", 1000, MOST_REPEATS), sleeps = setting("sleeps", 20, 10000);
  check(load_module(HAIRSPRING_CYCLES_DEVICE, "") == 0, "the module loads");
  check(hairspring_clock_start_only(HAIRSPRING_CYCLES_NAME), "its clock starts");
  put_kernel(repeats, sleeps);
  measure(repeats, sleeps);
  check_range("doubts", hairspring_clock_doubts(), 0, 0);
}
