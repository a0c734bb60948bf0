/* Calls that would do harm if they were repeated, and calls that do none: by the first argument,
 * with a file to write to and one to map. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
static int file, null, terminal, pipes[2], sockets[2];
static volatile int *board, *paper, *scratch;
static volatile uint32_t *shared_lock, own_lock;
__attribute__((noinline)) int part(int n) {
  int sum = 0;
  for (int i = 0; i < (n & 7) + 2; i++) sum += i * n ^ sum;
  struct iovec io = {"hello\n", 6};
  struct termios how;
  struct itimerval late = {{0, 0}, {5, 0}};
  siginfo_t about = {0};
  switch (n) {
  case 20: sum += (int)write(file, "hello\n", 6); break;
  case 21: sum += (int)writev(file, &io, 1); break;
  case 22: sum += (int)pwrite(file, "hello\n", 6, 0); break;
  case 23: sum += (int)write(sockets[0], "hello\n", 6); break;
  case 24: sum += (int)send(sockets[0], "hello\n", 6, 0); break;
  case 25: sum += (int)write(pipes[1], "hello\n", 6); break;
  case 26: ++*board; break;
  case 27: ++*paper; break;
  case 28: sum += (int)syscall(SYS_io_uring_enter, file, 1, 0, 0, 0, 0); break;
  case 29: sum += kill(getppid(), 0); break;
  case 30: sum += (int)syscall(SYS_tgkill, getppid(), getppid(), 0); break;
  case 31: sum += (int)syscall(SYS_rt_sigqueueinfo, getppid(), SIGUSR1, &about); break;
  case 32: sum += (int)ptrace(PTRACE_ATTACH, getppid(), 0, 0); break;
  case 33: sum += (int)syscall(SYS_futex, shared_lock, FUTEX_WAKE, 1, 0, 0, 0); break;
  case 34: sum += tcgetattr(terminal, &how); break;
  case 35: sum += ioctl(terminal, TIOCSTI, "x"); break;
  case 36: if (vfork() == 0) _exit(0); break;
  case 37: sum += (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); break;
  case 38: sum += setitimer(ITIMER_REAL, &late, 0); break;
  case 39: sum += msync((void *)paper, 4096, MS_SYNC); break;
  case 40: sum += madvise((void *)board, 4096, MADV_REMOVE); break;
  case 41: sum += mprotect((void *)board, 4096, PROT_READ | PROT_WRITE); ++*board; break;
  case 42: sum += mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != 0;
  break;
  case 43: sum += munmap((void *)paper, 4096); break;
  case 44: dup2(file, 1); break;
  case 45: __asm__ volatile("int $0x80" : "+a"(sum) : "b"(file), "c"(0), "d"(0) : "memory"); break;
  case 47: sum += (int)syscall(SYS_getrandom, board, 8, 0); break;
  case 48: sum += (int)syscall(SYS_fstat, null, board); break;
  case 49: sum += (int)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, paper); break;
  case 50: sum += (int)write(null, "hello\n", 6) + (int)write(1, "hello\n", 6); break;
  case 51: sum += printf("%d", n); fflush(stdout); break;
  case 52: sum += *board + *paper; break;
  case 53: sum += (int)syscall(SYS_futex, &own_lock, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
  break;
  case 54: sum += (int)syscall(SYS_getpid) + (int)clock(); break;
  case 55: ++*scratch; break;
  case 56: sum += (int)syscall(SYS_fstat, null, 8, board, board); break;
  }
  return sum;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  file = open(argv[2], O_CREAT | O_RDWR | O_APPEND, 0600);
  null = open("/dev/null", O_WRONLY);
  terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return 3;
  int map = open(argv[3], O_CREAT | O_RDWR, 0600);
  if (ftruncate(map, 4096)) return 4;
  paper = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  scratch = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, map, 0);
  board = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared_lock = (uint32_t *)(board + 8);
  if (n == 46) { dup2(file, 1); n = 50; }
  return part(n) & 1;
}
