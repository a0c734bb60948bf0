/* A function that pushes to the ring of io_uring by a plain store: the kernel polls it. */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) int push(volatile unsigned *tail, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += i * n ^ s;
  if (n == 7) ++*tail;
  return s;
}
int main(int argc, char **argv) {
  struct io_uring_params p; memset(&p, 0, sizeof p); p.flags = IORING_SETUP_SQPOLL;
  p.sq_thread_idle = 1000;
  int fd = (int)syscall(SYS_io_uring_setup, 8, &p);
  if (fd < 0) { perror("setup"); return 3; }
  char *ring = mmap(0, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
  if (ring == MAP_FAILED) { perror("mmap"); return 4; }
  return push((volatile unsigned *)(ring + p.sq_off.tail), atoi(argv[1])) & 1;
}
