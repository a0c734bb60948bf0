/* Prints the nanoseconds of 30 calls in a process that has one thing which the measuring process of
 * `hairspring time` has or had: child THING; without one, as a program has it. The least of eleven
 * means. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int null, zero, ends[2];
static char from[4096], to[4096];

static void limit(__rlimit_resource_t what, rlim_t most) {
  struct rlimit limits = {most, most};
  setrlimit(what, &limits);
}

static void handler(int signal) { _exit(signal); }

static void handlers(void) {
  static char stack[65536];
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaltstack(&own, NULL);
  const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGXFSZ, SIGXCPU};
  for (size_t at = 0; at < sizeof fatal / sizeof fatal[0]; at++)
    sigaction(fatal[at], &action, NULL);
}

static void timer(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec late = {.it_value = {.tv_sec = 600}};
  timer_t id;
  if (timer_create(CLOCK_MONOTONIC, &event, &id) == 0) timer_settime(id, 0, &late, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void filter(void) {
  struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {1, &all};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (int at = 0; at < 4; at++) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void have(const char *thing) {
  if (!strcmp(thing, "RLIMIT_CPU")) limit(RLIMIT_CPU, 1000);
  if (!strcmp(thing, "other limits"))
    limit(RLIMIT_AS, 4ULL << 30), limit(RLIMIT_FSIZE, 16 << 20), limit(RLIMIT_CORE, 0);
  if (!strcmp(thing, "timer")) timer();
  if (!strcmp(thing, "handlers")) handlers();
  if (!strcmp(thing, "priority")) setpriority(PRIO_PROCESS, 0, -20);
  if (!strcmp(thing, "locked memory")) mlockall(MCL_CURRENT);
  if (!strcmp(thing, "environment")) { setenv("PLACEMENT", memset(malloc(3000), 'x', 2999), 1); }
  if (!strcmp(thing, "output file")) { dup2(fileno(tmpfile()), 2); dup2(null, 0); }
  if (!strcmp(thing, "heap block")) *(volatile char *)malloc(3000) = 1;
  if (!strcmp(thing, "filters")) filter();
}

#define CALLS(call) \
  call("getppid", getppid()) \
  call("getpid", syscall(SYS_getpid)) \
  call("clock_gettime monotonic", clock_gettime(CLOCK_MONOTONIC, &now)) \
  call("clock_gettime realtime", clock_gettime(CLOCK_REALTIME, &now)) \
  call("clock_gettime process CPU time", clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)) \
  call("clock_gettime thread CPU time", clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) \
  call("clock", clock()) \
  call("times", times(&ticks)) \
  call("getrusage", getrusage(RUSAGE_SELF, &usage)) \
  call("gettimeofday", gettimeofday(&day, NULL)) \
  call("read of 1 byte", (void)!read(zero, to, 1)) \
  call("read of 4096 bytes", (void)!read(zero, to, sizeof to)) \
  call("write of 1 byte", (void)!write(null, from, 1)) \
  call("pipe, write and read", (void)(!write(ends[1], from, 1) + !read(ends[0], to, 1))) \
  call("lseek", lseek(zero, 0, SEEK_SET)) \
  call("stat", stat("/", &file)) \
  call("access", (void)!access("/", R_OK)) \
  call("open and close", close(open("/dev/null", O_RDONLY))) \
  call("getcwd", (void)!getcwd(to, sizeof to)) \
  call("uname", uname(&name)) \
  call("sched_yield", sched_yield()) \
  call("sigprocmask", sigprocmask(SIG_BLOCK, NULL, &signals)) \
  call("getpriority", getpriority(PRIO_PROCESS, 0)) \
  call("poll", poll(NULL, 0, 0)) \
  call("getrandom", (void)!getrandom(to, 8, 0)) \
  call("mmap and munmap", \
      munmap(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096)) \
  call("mmap, touch and munmap", \
       (page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), \
           *page = 1, munmap((void *)page, 4096))) \
  call("malloc and free, 64", (page = malloc(64), *page = 1, free((void *)page))) \
  call("malloc and free, 256 KiB", (page = malloc(1 << 18), *page = 1, free((void *)page))) \
  call("memcpy of 4096", (memcpy(to, from, sizeof to), (void)*(volatile char *)to))

static double ns(struct timespec begin, struct timespec end) {
  return 1e9 * (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec);
}

#define TIMED(name_of, code) \
  { \
    double least = 1e9; \
    for (int run = 0; run < 11; run++) { \
      struct timespec begin, end; \
      clock_gettime(CLOCK_MONOTONIC, &begin); \
      for (int at = 0; at < 1000; at++) { code; } \
      clock_gettime(CLOCK_MONOTONIC, &end); \
      double one = ns(begin, end) / 1000; \
      least = one < least ? one : least; \
    } \
    printf("%s\t%.2f\n", name_of, least); \
  }

int main(int count, char **words) {
  struct timespec now;
  struct timeval day;
  struct rusage usage;
  struct tms ticks;
  struct stat file;
  struct utsname name;
  sigset_t signals;
  volatile char *page;
  null = open("/dev/null", O_RDWR);
  zero = open("/dev/zero", O_RDWR);
  if (null < 0 || zero < 0 || pipe(ends) != 0) return errno;
  have(count > 1 ? words[1] : "");
  CALLS(TIMED)
  return 0;
}
