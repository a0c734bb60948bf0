/* The plain idea of lat_ctx: two processes pass a byte through two pipes, and the time is divided
 * by the switches. Nothing is subtracted. `lat_ctx CPU PAIRS` prints nanoseconds of a switch. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void give(int to)
{
	char byte = 0;
	if (write(to, &byte, 1) != 1)
		fail("write");
}

static void take(int from)
{
	char byte;
	if (read(from, &byte, 1) != 1)
		exit(0);
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int count, char **words)
{
	int there[2], back[2];
	cpu_set_t only;
	if (count != 3 || pipe(there) || pipe(back))
		fail("lat_ctx CPU PAIRS");
	long pairs = atol(words[2]);
	CPU_ZERO(&only);
	CPU_SET((size_t)atoi(words[1]), &only);
	if (sched_setaffinity(0, sizeof only, &only))
		fail("sched_setaffinity");
	pid_t other = fork();
	if (other < 0)
		fail("fork");
	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(there[1]);
		for (;;) {
			take(there[0]);
			give(back[1]);
		}
	}
	for (long at = 0; at < pairs / 10; at++) {
		give(there[1]);
		take(back[0]);
	}
	double begin = now();
	for (long at = 0; at < pairs; at++) {
		give(there[1]);
		take(back[0]);
	}
	printf("%.1f\n", (now() - begin) / (2.0 * (double)pairs));
	return 0;
}
