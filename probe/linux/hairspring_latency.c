// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What Kwon and Choi measured in the kernel: how long it takes to read the time by
 * ktime_get_real_ts64 (the successor of their getnstimeofday) and by the cycle counter, and the
 * periods of a cyclic task by both.
 *
 *   insmod hairspring_cycles.ko; insmod hairspring_latency.ko [repeats=1000] [sleeps=20]
 *   cat /sys/module/hairspring_latency/parameters/results
 *
 * Loading takes 8 s for each of `sleeps`, and 1.1 ms for each of `repeats`. A line of the results
 * is: experiment, method, number of values, their sum, minimum, maximum; in nanoseconds for ktime,
 * in ticks of the counter for cycles. `call` is the ticks of the counter for one call.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "pmu.h"

static unsigned int repeats = 1000;
module_param(repeats, uint, 0444);
MODULE_PARM_DESC(repeats, "consecutive reads, and periods");
static unsigned int sleeps = 20;
module_param(sleeps, uint, 0444);
MODULE_PARM_DESC(sleeps, "pairs of reads after 1 s, and alternately after 1 and 5 s");
static char results[2048];
module_param_string(results, results, sizeof(results), 0444);
static size_t used_bytes;

#define MOST_REPEATS 100000u
#define MOST_SLEEPS 10000u

/* Both times of one moment. */
struct moment {
	struct timespec64 time;
	unsigned long cycles;
};
static struct moment *moments;

struct spread {
	unsigned int count;
	s64 sum, least_ns, most_ns;
};

static void add(struct spread *spread, s64 value)
{
	if (!spread->count || value < spread->least_ns)
		spread->least_ns = value;
	if (!spread->count || value > spread->most_ns)
		spread->most_ns = value;
	spread->sum += value;
	spread->count += 1;
}

static void put(const char *experiment, const char *method, const struct spread *spread)
{
	used_bytes += scnprintf(results + used_bytes, sizeof(results) - used_bytes,
			  "%s %s %u %lld %lld %lld\n", experiment, method, spread->count, spread->sum,
			  spread->least_ns, spread->most_ns);
}

static s64 between(const struct timespec64 *first, const struct timespec64 *second)
{
	return timespec64_to_ns(second) - timespec64_to_ns(first);
}

static void consecutive(void)
{
	struct spread time = {}, cycles = {};
	unsigned int at;

	for (at = 0; at < repeats; at++)
		ktime_get_real_ts64(&moments[at].time);
	for (at = 0; at < repeats; at++)
		moments[at].cycles = hairspring_pmccntr();
	for (at = 1; at < repeats; at++) {
		add(&time, between(&moments[at - 1].time, &moments[at].time));
		add(&cycles, (s64)(moments[at].cycles - moments[at - 1].cycles));
	}
	put("consecutive", "ktime", &time);
	put("consecutive", "cycles", &cycles);
}

/* Ticks of the counter for one call of each method, less those of reading the counter. */
static void calls(void)
{
	struct spread time = {}, cycles = {};
	struct timespec64 now;
	unsigned long first, second, third;
	unsigned int at;

	for (at = 0; at < repeats; at++) {
		first = hairspring_pmccntr();
		second = hairspring_pmccntr();
		ktime_get_real_ts64(&now);
		third = hairspring_pmccntr();
		add(&cycles, (s64)(second - first));
		add(&time, (s64)(third - second) - (s64)(second - first));
	}
	put("call", "ktime", &time);
	put("call", "cycles", &cycles);
}

static void sleep_until(ktime_t due)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&due, HRTIMER_MODE_ABS);
}

static s64 pair_of_times(void)
{
	struct timespec64 first, second;

	ktime_get_real_ts64(&first);
	ktime_get_real_ts64(&second);
	return between(&first, &second);
}

static s64 pair_of_cycles(void)
{
	unsigned long first = hairspring_pmccntr();

	return (s64)(hairspring_pmccntr() - first);
}

/* Two reads after each sleep. Each method has its own sleeps, so that none finds the caches warm
 * from the other. */
static void pairs(const char *experiment, const char *method, s64 (*pair)(void),
    unsigned int even_seconds)
{
	struct spread spread = {};
	ktime_t due = ktime_get();
	unsigned int at;

	for (at = 0; at < sleeps; at++) {
		due = ktime_add_ns(due, (u64)(at % 2 ? even_seconds : 1) * NSEC_PER_SEC);
		sleep_until(due);
		add(&spread, pair());
	}
	put(experiment, method, &spread);
}

/* A task with a period: the time at its beginning by both methods. */
static void periods(const char *experiment, u64 period_ns)
{
	struct spread time = {}, cycles = {};
	ktime_t due = ktime_get();
	unsigned int at;

	for (at = 0; at < repeats; at++) {
		due = ktime_add_ns(due, period_ns);
		sleep_until(due);
		ktime_get_real_ts64(&moments[at].time);
		moments[at].cycles = hairspring_pmccntr();
	}
	for (at = 1; at < repeats; at++) {
		add(&time, between(&moments[at - 1].time, &moments[at].time));
		add(&cycles, (s64)(moments[at].cycles - moments[at - 1].cycles));
	}
	put(experiment, "ktime", &time);
	put(experiment, "cycles", &cycles);
}

static void measure(void)
{
	consecutive();
	calls();
	pairs("every_1s", "ktime", pair_of_times, 1);
	pairs("every_1s", "cycles", pair_of_cycles, 1);
	pairs("every_1s_5s", "ktime", pair_of_times, 5);
	pairs("every_1s_5s", "cycles", pair_of_cycles, 5);
	periods("period_100us", 100 * NSEC_PER_USEC);
	periods("period_1ms", NSEC_PER_MSEC);
}

static int __init load(void)
{
	if (repeats < 2 || repeats > MOST_REPEATS || sleeps < 1 || sleeps > MOST_SLEEPS) {
		pr_err("repeats=%u must be from 2 to %u, sleeps=%u from 1 to %u\n", repeats, MOST_REPEATS, sleeps,
      MOST_SLEEPS);
		return -EINVAL;
	}
	if (!hairspring_pmu_version() || !hairspring_pmu_is_ours(0)) {
		pr_err("the cycle counter is off: load hairspring_cycles before\n");
		return -ENODEV;
	}
	moments = vmalloc(array_size(repeats, sizeof(*moments)));
	if (!moments)
		return -ENOMEM;
	migrate_disable(); /* each CPU has its own counter */
	measure();
	migrate_enable();
	vfree(moments);
	return 0;
}

static void __exit unload(void)
{
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Latencies of reading the time in the kernel, as in the paper by Kwon and Choi");
