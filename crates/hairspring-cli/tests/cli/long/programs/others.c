/* Programs that start others before the call: one that shares its memory, and one in which only the
 * child makes the call. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static char stack[65536];
static volatile int shared;
static int child(void *a) { (void)a; for (;;) { shared++; usleep(1000); } return 0; }
__attribute__((noinline)) int part(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += i * n ^ s;
  shared += s;
  return s;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  if (n == 5) clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD, 0);
  if (n == 6) return fork() == 0 ? part(3) & 1 : 0;
  return part(n) & 1;
}
