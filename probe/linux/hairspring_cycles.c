// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Gives programs the cycle counter of ARM cores: CCNT of armv7-A, PMCCNTR_EL0 of aarch64.
 *
 *   insmod hairspring_cycles.ko [divided=1] [user=0] [keeper_ms=1000] [force=1]
 *
 * On each CPU that is or comes online it starts the counter (Kwon and Choi, Figure 2), checks that
 * it counts, and lets programs read it. A timer on each CPU adds up the wraps of 32 bits in a page
 * that programs map (/dev/hairspring_cycles, arm/page.h), and notices when perf or an idle state
 * changed the counter. Unloading, and taking a CPU offline, restores every setting. The module
 * stays while a program has the device open.
 *
 * On armv7 the processor knows only one permission: programs can then also write the registers of
 * the performance monitors.
 */
#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "page.h"
#include "pmu.h"

static bool divided;
module_param(divided, bool, 0444);
MODULE_PARM_DESC(divided, "armv7: count one tick in 64 cycles");
static bool user = true;
module_param(user, bool, 0444);
MODULE_PARM_DESC(user, "let programs read the counter");
static bool force;
module_param(force, bool, 0444);
MODULE_PARM_DESC(force, "take a counter that something else left on; never perf's");
static unsigned int keeper_ms = 1000;
module_param(keeper_ms, uint, 0444);
MODULE_PARM_DESC(keeper_ms,
    "how often wraps are added up: at most 1000, because 32 bits wrap in a second at 4.29 GHz");

struct counter {
	struct hairspring_pmu_settings before; /* what is handed back */
	struct hrtimer keeper;
	bool on;
};
static DEFINE_PER_CPU(struct counter, counters);

static struct hairspring_cycles_header *page;
static size_t page_bytes;
static int hotplug_state;

static struct hairspring_cycles_slot *slot_of(unsigned int cpu)
{
	return (struct hairspring_cycles_slot *)page + 1 + cpu;
}

static unsigned long division(void)
{
	return divided ? HAIRSPRING_PMCR_D : 0;
}

/* Programs on this CPU see an odd sequence while the slot changes. */
static void begin_change(struct hairspring_cycles_slot *slot)
{
	WRITE_ONCE(slot->sequence, slot->sequence + 1);
	barrier();
}

static void end_change(struct hairspring_cycles_slot *slot)
{
	slot->events = slot->disturbed + slot->powered;
	barrier();
	WRITE_ONCE(slot->sequence, slot->sequence + 1);
}

/* The settings of this CPU. Ticks go on from what was added up so far. */
static void turn_on(struct hairspring_cycles_slot *slot)
{
	hairspring_pmu_start(HAIRSPRING_PMCR_C, division());
	if (user)
		hairspring_set_pmuserenr(hairspring_pmuserenr() | HAIRSPRING_PMUSERENR_CYCLES);
	HAIRSPRING_ISB();
	slot->low = hairspring_pmccntr();
	slot->state = HAIRSPRING_CYCLES_ON;
}

static void add_up(struct hairspring_cycles_slot *slot)
{
	unsigned long now = hairspring_pmccntr();

	slot->base += now - (unsigned long)slot->low;
	slot->low = now;
}

static bool is_intact(void)
{
	return hairspring_pmu_is_ours(division()) &&
	       (!user || (hairspring_pmuserenr() & HAIRSPRING_PMUSERENR_CYCLES));
}

/*
 * Adds up, or notices that somebody changed the counter; then counts the event and turns the
 * counter on again. While perf uses the counter it is left alone. On this CPU, with interrupts off.
 */
static void look(struct hairspring_cycles_slot *slot, u32 *event)
{
	begin_change(slot);
	if (hairspring_pmu_is_perfs()) {
		if (!(slot->state & HAIRSPRING_CYCLES_TAKEN))
			*event += 1;
		slot->state = HAIRSPRING_CYCLES_TAKEN;
	} else if (!is_intact()) {
		*event += slot->state == HAIRSPRING_CYCLES_ON;
		turn_on(slot);
	} else {
		add_up(slot);
	}
	end_change(slot);
}

/* Looks at the counter of the CPU that the caller is on. */
static void look_here(void)
{
	struct hairspring_cycles_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	slot = slot_of(smp_processor_id());
	if (this_cpu_read(counters.on))
		look(slot, &slot->disturbed);
	local_irq_restore(flags);
}

static enum hrtimer_restart keep(struct hrtimer *timer)
{
	look_here();
	hrtimer_forward_now(timer, ms_to_ktime(keeper_ms));
	return HRTIMER_RESTART;
}

static bool counts(void)
{
	unsigned long first = hairspring_pmccntr();
	unsigned int reads;

	for (reads = 0; reads < 10000; reads++)
		if (hairspring_pmccntr() != first)
			return true;
	return false;
}

/* ---- CPUs that come and go ---- */

static int start_counter(struct counter *counter, struct hairspring_cycles_slot *slot)
{
	hairspring_pmu_save(&counter->before);
	/* What perf counts would be wrong without a word, and it would keep the counter. */
	if (hairspring_pmu_is_perfs())
		return -EBUSY;
	if (counter->before.enabled && !force)
		return -EEXIST;
	begin_change(slot);
	turn_on(slot);
	end_change(slot);
	if (counts()) {
		counter->on = true;
		return 0;
	}
	hairspring_pmu_hand_back(&counter->before);
	slot->state = 0;
	return -ENODEV;
}

static void start_keeper(struct hrtimer *timer)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, keep, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = keep;
#endif
	hrtimer_start(timer, ms_to_ktime(keeper_ms), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Both run on the CPU itself. */
static int cpu_online_here(unsigned int cpu)
{
	struct counter *counter = per_cpu_ptr(&counters, cpu);
	unsigned long flags;
	int error;

	local_irq_save(flags);
	error = start_counter(counter, slot_of(cpu));
	local_irq_restore(flags);
	if (error == -EBUSY)
		pr_err("perf uses the cycle counter of CPU %u: stop that (perf, a watchdog)\n", cpu);
	else if (error == -EEXIST)
		pr_err("something else has left the cycle counter of CPU %u on: end it, or load with force=1\n",
      cpu);
	else if (error)
		pr_err("the cycle counter of CPU %u accepts its settings but does not count\n", cpu);
	else
		start_keeper(&counter->keeper);
	return error;
}

static int cpu_offline_here(unsigned int cpu)
{
	struct counter *counter = per_cpu_ptr(&counters, cpu);
	struct hairspring_cycles_slot *slot = slot_of(cpu);
	unsigned long flags;

	if (!counter->on)
		return 0;
	hrtimer_cancel(&counter->keeper);
	local_irq_save(flags);
	begin_change(slot);
	add_up(slot);
	slot->state = 0;
	slot->powered += 1;
	end_change(slot);
	counter->on = false;
	/* A counter that perf has now is perf's. */
	if (!hairspring_pmu_is_perfs())
		hairspring_pmu_hand_back(&counter->before);
	else
		hairspring_set_pmuserenr(counter->before.user);
	local_irq_restore(flags);
	return 0;
}

/*
 * Idle states that switch the core off: the count is saved before, the settings are made again
 * after. The kernel's own driver resets the performance monitors in its notifier, which must run
 * first.
 */
static int cpu_power(struct notifier_block *block, unsigned long action, void *data)
{
	struct hairspring_cycles_slot *slot = slot_of(smp_processor_id());

	if (!this_cpu_read(counters.on))
		return NOTIFY_OK;
	if (action == CPU_PM_ENTER)
		look(slot, &slot->disturbed);
	else if (action == CPU_PM_EXIT || action == CPU_PM_ENTER_FAILED)
		look(slot, &slot->powered);
	return NOTIFY_OK;
}

static struct notifier_block power_notifier = { .notifier_call = cpu_power, .priority = -100 };

/* ---- the device ---- */

static ssize_t device_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	size_t size = 128 * (1 + num_possible_cpus()), used_bytes;
	char *text = kmalloc(size, GFP_KERNEL);
	unsigned int cpu;
	ssize_t result;

	if (!text)
		return -ENOMEM;
	used_bytes = scnprintf(text, size, "one tick in %d cycles, wraps added up every %u ms\n",
     divided ? 64 : 1, keeper_ms);
	for_each_possible_cpu(cpu) {
		struct hairspring_cycles_slot *slot = slot_of(cpu);
		const char *state = slot->state & HAIRSPRING_CYCLES_ON ? "on" : slot->state ? "taken by perf"
      : "off";

		used_bytes += scnprintf(text + used_bytes, size - used_bytes,
      "cpu %u: %s, disturbed %u times, powered down %u times\n", cpu, state,
				  slot->disturbed, slot->powered);
	}
	result = simple_read_from_buffer(to, bytes, at, text, used_bytes);
	kfree(text);
	return result;
}

static int device_mmap(struct file *file, struct vm_area_struct *area)
{
	if (area->vm_flags & VM_WRITE)
		return -EPERM;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(area, VM_MAYWRITE);
#else
	area->vm_flags &= ~VM_MAYWRITE;
#endif
	return remap_vmalloc_range(area, page, area->vm_pgoff);
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	if (command != HAIRSPRING_CYCLES_CHECK)
		return -ENOTTY;
	look_here();
	return 0;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.read = device_read,
	.llseek = default_llseek,
	.mmap = device_mmap,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = device_ioctl,
};
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = HAIRSPRING_CYCLES_DEVICE,
	.fops = &device_operations,
	.mode = 0444,
};

/* ---- loading and unloading ---- */

static int make_page(void)
{
	page_bytes = PAGE_ALIGN((nr_cpu_ids + 1) * sizeof(struct hairspring_cycles_slot));
	page = vmalloc_user(page_bytes);
	if (!page)
		return -ENOMEM;
	page->magic = HAIRSPRING_CYCLES_MAGIC;
	page->version = HAIRSPRING_CYCLES_VERSION;
	page->slots = nr_cpu_ids + 1;
	page->divided = divided;
	return 0;
}

static int start_everywhere(void)
{
	int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hairspring:online", cpu_online_here,
     cpu_offline_here);

	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

/* No core is faster than 4.29 GHz, where 32 bits wrap in a second. */
static unsigned int longest_keeper_ms(void)
{
	return divided || IS_ENABLED(CONFIG_ARM64) ? 4000 : 1000;
}

static int check_parameters(void)
{
	BUILD_BUG_ON(sizeof(struct hairspring_cycles_header) != sizeof(struct hairspring_cycles_slot));
	if (keeper_ms < 1 || keeper_ms > longest_keeper_ms()) {
		pr_err("keeper_ms=%u: must be from 1 to %u, because 32 bits wrap in a second at 4.29 GHz\n",
      keeper_ms,
		       longest_keeper_ms());
		return -EINVAL;
	}
	if (divided && IS_ENABLED(CONFIG_ARM64)) {
		pr_err("divided=1 is for armv7: here the counter has 64 bits\n");
		return -EINVAL;
	}
	if (!hairspring_pmu_version()) {
		pr_err("the processor has no performance monitors\n");
		return -ENODEV;
	}
	return 0;
}

static int __init load(void)
{
	int error = check_parameters();

	if (!error)
		error = make_page();
	if (error)
		return error;
	error = start_everywhere();
	if (error)
		goto free_page;
	error = cpu_pm_register_notifier(&power_notifier);
	if (error)
		goto stop;
	error = misc_register(&device);
	if (!error)
		return 0;
	cpu_pm_unregister_notifier(&power_notifier);
stop:
	cpuhp_remove_state(hotplug_state);
free_page:
	vfree(page);
	return error;
}

static void __exit unload(void)
{
	misc_deregister(&device);
	cpu_pm_unregister_notifier(&power_notifier);
	cpuhp_remove_state(hotplug_state);
	vfree(page);
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("The cycle counter of ARM cores for programs");
