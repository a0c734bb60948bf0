/* What the programs in the emulated Linux need: output, checks, modules, files. */
#ifndef HAIRSPRING_RIG_GUEST_H
#define HAIRSPRING_RIG_GUEST_H

#include "hairspring_arm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* One for all files of the program. */
__attribute__((weak)) int failures;

static inline void check(int passed, const char *name) {
  printf("%s: %s\n", passed ? "ok" : "FAILED", name);
  failures += !passed;
}

static inline void check_range(const char *name, uint64_t found, uint64_t least, uint64_t most) {
  int passed = found >= least && found <= most;
  printf("%s: %s = %llu", passed ? "ok" : "FAILED", name, (unsigned long long)found);
  if (!passed) printf(", must be from %llu to %llu", (unsigned long long)least,
      (unsigned long long)most);
  printf("\n");
  failures += !passed;
}

static inline void check_text(const char *name, const char *found, const char *part) {
  int passed = strstr(found, part) != NULL && (*part != 0 || *found == 0);
  printf("%s: %s is \"%s\"", passed ? "ok" : "FAILED", name, found);
  if (!passed) printf(", must have \"%s\"", part);
  printf("\n");
  failures += !passed;
}

/* 0, or the error. The module is /NAME.ko. */
static inline int load_module(const char *name, const char *parameters) {
  char path[64];
  snprintf(path, sizeof path, "/%s.ko", name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int error = syscall(SYS_finit_module, file, parameters, 0) == 0 ? 0 : errno;
  close(file);
  return error;
}
static inline int unload_module(const char *name) {
  return syscall(SYS_delete_module, name, O_NONBLOCK) == 0 ? 0 : errno;
}

/* The beginning of a file; empty if it cannot be read. */
static inline void read_text(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? 0 : read(file, text, size - 1);
  text[got > 0 ? got : 0] = 0;
  if (file >= 0) close(file);
}
static inline int write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  int written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
  if (file >= 0) close(file);
  return written;
}

/* Runs a function in a process of its own. The status is 128 and the signal's number if one ended
 * it. */
static inline int in_child(int (*function)(void)) {
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    status = function();
    fflush(stdout);
    _exit(status);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void sleep_ms(long ms) {
  struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&wait, NULL);
}
static inline void sleep_seconds(long seconds) { sleep_ms(1000 * seconds); }

/* A pinned event of the hardware: of this thread in programs alone, or of everything on CPU 0. */
static inline int open_perf_event(uint64_t event, int thread) {
  struct perf_event_attr wanted;
  memset(&wanted, 0, sizeof wanted);
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.size = sizeof wanted;
  wanted.config = event;
  wanted.pinned = 1;
  wanted.exclude_kernel = thread != 0;
  return (int)syscall(SYS_perf_event_open, &wanted, thread ? 0 : -1, thread ? -1 : 0, -1, 0);
}
static inline int open_perf(int thread) {
  return open_perf_event(PERF_COUNT_HW_CPU_CYCLES, thread);
}

/* 1: perf lets programs read its counters (aarch64). */
#define USER_ACCESS "/proc/sys/kernel/perf_user_access"

void run_tables(void);
void run_command(void);

#endif
