// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * For tests: shows the settings of the cycle counter on each CPU
 * (/sys/module/peek/parameters/results), and with power=1 does on this CPU what an idle state does
 * that switches the core off: the notifiers of the kernel run, and the settings are lost between.
 * With leave=1 it ends the emulator, by ARM's semihosting, for boards that cannot be switched off.
 *
 * Until it is unloaded, programs may read a counter that is off (still=1), or the counter of CPU 0
 * alone (one=1); with closed=1 it takes the permission from programs: modules by others do that.
 */
#include <linux/cpu_pm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "pmu.h"

static bool power;
module_param(power, bool, 0444);
static bool leave;
module_param(leave, bool, 0444);
static bool still;
module_param(still, bool, 0444);
static bool one;
module_param(one, bool, 0444);
static bool closed;
module_param(closed, bool, 0444);
static DEFINE_PER_CPU(struct hairspring_pmu_settings, before);
static char results[1024];
module_param_string(results, results, sizeof(results), 0444);

static void show(void *data)
{
	struct hairspring_pmu_settings settings;
	size_t used = strlen(results);

	hairspring_pmu_save(&settings);
	scnprintf(results + used, sizeof(results) - used,
     "cpu %d: pmcr %lx, enabled %lx, filter %lx, user %lx\n", smp_processor_id(),
		  settings.control, settings.enabled, settings.filter, settings.user);
}

/* Lets programs read the counter of this CPU. */
static void permit(void *data)
{
	hairspring_pmu_save(this_cpu_ptr(&before));
	if (one)
		hairspring_pmu_start(HAIRSPRING_PMCR_C, 0);
	hairspring_set_pmuserenr(hairspring_pmuserenr() | HAIRSPRING_PMUSERENR_CYCLES);
	HAIRSPRING_ISB();
}

static void forbid(void *data)
{
	hairspring_set_pmuserenr(0);
	HAIRSPRING_ISB();
}

static void hand_back(void *data)
{
	hairspring_pmu_hand_back(this_cpu_ptr(&before));
}

static void lose_power(void)
{
	unsigned long flags;

	local_irq_save(flags);
	if (cpu_pm_enter() == 0) {
		hairspring_set_pmuserenr(0);
		hairspring_set_pmcntenclr(HAIRSPRING_PMU_CYCLES);
		hairspring_set_pmcr(HAIRSPRING_PMCR_C);
		HAIRSPRING_ISB();
		cpu_pm_exit();
	} else {
		pr_err("a notifier refused the idle state\n");
	}
	local_irq_restore(flags);
}

#ifdef CONFIG_ARM
static void leave_emulator(void)
{
	register unsigned long operation asm("r0") = 0x18; /* SYS_EXIT */
	register unsigned long reason asm("r1") = 0x20026; /* the program ended */

#ifdef CONFIG_THUMB2_KERNEL
	asm volatile("svc 0xab" : "+r"(operation) : "r"(reason) : "memory", "lr");
#else
	asm volatile("svc 0x123456" : "+r"(operation) : "r"(reason) : "memory", "lr");
#endif
}
#else
static void leave_emulator(void)
{
}
#endif

static int __init load(void)
{
	int cpu;

	if (leave)
		leave_emulator();
	if (power)
		lose_power();
	if (one)
		smp_call_function_single(0, permit, NULL, 1);
	if (still)
		on_each_cpu(permit, NULL, 1);
	if (closed)
		on_each_cpu(forbid, NULL, 1);
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, show, NULL, 1);
	return 0;
}

static void __exit unload(void)
{
	if (one)
		smp_call_function_single(0, hand_back, NULL, 1);
	if (still)
		on_each_cpu(hand_back, NULL, 1);
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Settings of the cycle counter, for tests");
