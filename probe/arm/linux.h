/* The clocks of ARM Linux for programs, for hairspring_arm.h. */
#ifndef HAIRSPRING_ARM_LINUX_H
#define HAIRSPRING_ARM_LINUX_H

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined(__USE_GNU) && defined(__GLIBC__)
#error "hairspring_arm.h needs _GNU_SOURCE: include it first, or define _GNU_SOURCE before any header"
#endif
#if defined(__has_include) && defined(__GLIBC__)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAIRSPRING_ARM_RSEQ
#endif
#endif

#include "choice.h"
#include "page.h"
#include "pmu.h"
#include "timer.h"

#if defined(__aarch64__)
#define HAIRSPRING_CYCLES_NAME "pmccntr"
#else
#define HAIRSPRING_CYCLES_NAME "ccnt"
#endif
#define HAIRSPRING_ARM_PAGE_BYTES 4096u

/* The open counter of this thread. */
struct hairspring_arm_thread {
  int descriptor; /* -1: none */
  void *map;
  size_t map_bytes;
  int cpu; /* of the read before; -1: none */
  uint32_t events; /* of that CPU's counter, in the module's slot */
  volatile int lost; /* set by the handler below */
};
__attribute__((weak, visibility("hidden")))
    __thread struct hairspring_arm_thread hairspring_arm_open = {-1, NULL, 0, -1, 0, 0};

#define HAIRSPRING_COMPILER_BARRIER() __asm__ volatile("" : : : "memory")

/* ---- reads that may be forbidden ------------------------------------------------------------- */

/* Reading a counter without permission is an illegal instruction. Access can also end during a
 * measurement: perf withdraws it from a thread, a CPU comes back without it. The handler makes such
 * a read return 0 and says so; all other illegal instructions go to the handler before it. */
struct hairspring_arm_guard {
  volatile int installed;
  struct sigaction before;
};
__attribute__((weak, visibility("hidden"))) struct hairspring_arm_guard hairspring_arm_guard;

#if defined(__aarch64__)

/* `mrs Xt` of a PMU register that programs may read, or of the generic timer. */
static inline int hairspring_skip_read(ucontext_t *at) {
  uint32_t code;
  memcpy(&code, (const void *)(uintptr_t)at->uc_mcontext.pc, sizeof code);
  if ((code & 0xfffff000u) != 0xd53b9000u && (code & 0xffffff00u) != 0xd53be000u) return 0;
  if ((code & 31u) != 31u) at->uc_mcontext.regs[code & 31u] = 0;
  at->uc_mcontext.pc += 4;
  return 1;
}

#else

static inline void hairspring_clear_register(ucontext_t *at, unsigned number) {
  unsigned long *registers = &at->uc_mcontext.arm_r0; /* r0 to r14 follow each other */
  if (number < 15) registers[number] = 0;
}

/* `mrc` of a PMU register or the timer's rate, or `mrrc` of the timer, in ARM and in Thumb code. */
static inline int hairspring_skip_read(ucontext_t *at) {
  uint16_t half[2];
  uint32_t code;
  memcpy(half, (const void *)(uintptr_t)at->uc_mcontext.arm_pc, sizeof half);
  if ((at->uc_mcontext.arm_cpsr & 0x20u) != 0) code = (uint32_t)half[0] << 16 | half[1];
  else code = (uint32_t)half[1] << 16 | half[0];
  if ((code & 0xffff0f10u) == 0xee190f10u || (code & 0xffff0fffu) == 0xee1e0f10u) {
    hairspring_clear_register(at, code >> 12 & 15u);
  } else if ((code & 0xfff00fffu) == 0xec500f1eu) {
    hairspring_clear_register(at, code >> 12 & 15u);
    hairspring_clear_register(at, code >> 16 & 15u);
  } else {
    return 0;
  }
  at->uc_mcontext.arm_pc += 4;
  return 1;
}

#endif

static void hairspring_illegal(int number, siginfo_t *information, void *context) {
  const struct sigaction *before = &hairspring_arm_guard.before;
  if (hairspring_skip_read((ucontext_t *)context)) {
    hairspring_arm_open.lost = 1;
  } else if ((before->sa_flags & SA_SIGINFO) != 0) {
    before->sa_sigaction(number, information, context);
  } else if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
    /* the instruction runs again and ends the program as it would have */
    (void)sigaction(number, before, NULL);
  } else {
    before->sa_handler(number);
  }
}

static inline int hairspring_guard_reads(void) {
  struct sigaction action;
  if (hairspring_arm_guard.installed) return 1;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = hairspring_illegal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  (void)sigemptyset(&action.sa_mask);
  if (sigaction(SIGILL, &action, &hairspring_arm_guard.before) != 0) return 0;
  hairspring_arm_guard.installed = 1;
  return 1;
}

/* Whether reads since the last call were refused. */
static inline int hairspring_was_refused(void) {
  HAIRSPRING_COMPILER_BARRIER();
  int lost = hairspring_arm_open.lost;
  hairspring_arm_open.lost = 0;
  return lost;
}

static inline unsigned long hairspring_cycles_raw(void) { return hairspring_pmccntr(); }

static inline unsigned long hairspring_cycles_between_barriers(void) {
  HAIRSPRING_ISB();
  unsigned long cycles = hairspring_pmccntr();
  HAIRSPRING_ISB();
  return cycles;
}

/* ---- the core that the thread is on ---------------------------------------------------------- */

static inline int hairspring_cpu(void) {
#ifdef HAIRSPRING_ARM_RSEQ
  if (__rseq_size > 0) {
    const volatile struct rseq *area = (const volatile struct rseq *)(const void *)(
        (char *)__builtin_thread_pointer() + __rseq_offset);
    return (int)area->cpu_id;
  }
#endif
  return sched_getcpu();
}

static inline void hairspring_see_cpu(int cpu) {
  if (cpu != hairspring_arm_open.cpu && hairspring_arm_open.cpu >= 0)
    hairspring_arm.doubts |= HAIRSPRING_DOUBT_MIGRATED;
  hairspring_arm_open.cpu = cpu;
}

static void hairspring_close(void) {
  if (hairspring_arm_open.map != NULL)
    (void)munmap(hairspring_arm_open.map, hairspring_arm_open.map_bytes);
  if (hairspring_arm_open.descriptor >= 0) (void)close(hairspring_arm_open.descriptor);
  hairspring_arm_open.map = NULL;
  hairspring_arm_open.descriptor = -1;
  hairspring_arm_open.cpu = -1;
}

/* Maps the open file read-only. */
static inline int hairspring_map(size_t bytes) {
  void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, hairspring_arm_open.descriptor, 0);
  if (map == MAP_FAILED) return 0;
  hairspring_arm_open.map = map;
  hairspring_arm_open.map_bytes = bytes;
  return 1;
}

/* ---- perf ------------------------------------------------------------------------------------ */

static inline const char *hairspring_perf_refusal(int error) {
  switch (error) {
    case EACCES:
    case EPERM: return "no permission for perf events (kernel.perf_event_paranoid)";
    case ENOSYS: return "this kernel has no perf events";
    case EBUSY: return "another perf event holds the counter";
    default: return
        "perf knows no cycle counter here (no performance monitors, or not in the device tree)";
  }
}

/* The cycles of this thread; without the kernel's if only these are allowed. config1: bit 0 asks
 * for 64 bits, bit 1 for user access. */
static inline const char *hairspring_perf_open(uint64_t config1) {
  struct perf_event_attr wanted_event;
  memset(&wanted_event, 0, sizeof wanted_event);
  wanted_event.type = PERF_TYPE_HARDWARE;
  wanted_event.size = sizeof wanted_event;
  wanted_event.config = PERF_COUNT_HW_CPU_CYCLES;
  wanted_event.config1 = config1;
  wanted_event.pinned = 1;
  for (unsigned user_only = 0; user_only < 2; user_only += 1) {
    wanted_event.exclude_kernel = user_only != 0;
    hairspring_arm_open.descriptor =
        (int)syscall(SYS_perf_event_open, &wanted_event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (hairspring_arm_open.descriptor >= 0) return NULL;
    if (errno != EACCES && errno != EPERM) break;
  }
  return hairspring_perf_refusal(errno);
}

static const char *hairspring_enable_perf_read(void) { return hairspring_perf_open(0); }

/* The number of cycles by a system call. perf follows the thread, so it counts on all cores. */
static uint64_t hairspring_perf_read(void) {
  uint64_t count = 0;
  HAIRSPRING_ISB();
  if (read(hairspring_arm_open.descriptor, &count, sizeof count) != (ssize_t)sizeof count)
    hairspring_arm.doubts |= HAIRSPRING_DOUBT_STOPPED;
  HAIRSPRING_ISB();
  hairspring_see_cpu(hairspring_cpu());
  return count;
}

#if defined(__aarch64__)

#define HAIRSPRING_PERF_CYCLE_INDEX 32u /* 1 more than the cycle counter's number */

/* The kernel writes the page on this CPU while the thread does not run, so only the compiler needs
 * a barrier. A negative count of a narrow counter is extended by its sign: the kernel starts
 * counters at half their range. */
static uint64_t hairspring_perf_ticks(void) {
  const volatile struct perf_event_mmap_page *page =
      (const volatile struct perf_event_mmap_page *)hairspring_arm_open.map;
  uint64_t ticks = 0;
  uint32_t sequence, index;
  int cpu;
  do {
    sequence = page->lock;
    HAIRSPRING_COMPILER_BARRIER();
    cpu = hairspring_cpu();
    index = page->index;
    ticks = (uint64_t)page->offset;
    if (index == HAIRSPRING_PERF_CYCLE_INDEX && page->cap_user_rdpmc) {
      unsigned shift = 64u - page->pmc_width;
      ticks += (uint64_t)((int64_t)(hairspring_cycles_between_barriers() << shift) >> shift);
    } else {
      hairspring_arm.doubts |= HAIRSPRING_DOUBT_STOPPED;
    }
    HAIRSPRING_COMPILER_BARRIER();
  } while (page->lock != sequence);
  hairspring_see_cpu(cpu);
  return ticks;
}

static const char hairspring_no_user_access[] =
    "programs may not read it (kernel.perf_user_access = 1 allows it)";

/* NULL if kernel.perf_user_access is 1. */
static inline const char *hairspring_user_access_refusal(void) {
  char digit = '0';
  int file = open("/proc/sys/kernel/perf_user_access", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return "perf knows no cycle counter here, or Linux is older than 5.17 (there is no "
        "kernel.perf_user_access)";
  if (read(file, &digit, 1) != 1) digit = '0';
  (void)close(file);
  return digit == '1' ? NULL : hairspring_no_user_access;
}

static inline const char *hairspring_perf_page_refusal(void) {
  const volatile struct perf_event_mmap_page *page =
      (const volatile struct perf_event_mmap_page *)hairspring_arm_open.map;
  if (!page->cap_user_rdpmc) return hairspring_no_user_access;
  if (page->index == 0) return "another perf event holds the counter";
  if (page->index != HAIRSPRING_PERF_CYCLE_INDEX)
    return "perf counts cycles with another counter than the cycle counter";
  hairspring_arm_open.lost = 0;
  (void)hairspring_pmccntr();
  return hairspring_was_refused() ? "the core refuses the read" : NULL;
}

static const char *hairspring_enable_perf(void) {
  const char *refused = hairspring_user_access_refusal();
  if (!hairspring_guard_reads()) return "no handler can be set for refused reads";
  /* An event would take the counter from the module, and the permission from all programs, even if
   * its page cannot be read then. */
  if (refused != NULL) return refused;
  for (uint64_t config1 = 3; config1 >= 2; config1 -= 1) { /* 64 bits, else 32 */
    refused = hairspring_perf_open(config1);
    if (refused == NULL)
      refused = hairspring_map(HAIRSPRING_ARM_PAGE_BYTES) ? hairspring_perf_page_refusal()
          : "perf's page cannot be mapped";
    if (refused == NULL) return NULL;
    hairspring_close();
  }
  return refused;
}

#endif

/* ---- the module ------------------------------------------------------------------------------ */

static inline const volatile struct hairspring_cycles_slot *hairspring_slot(int cpu) {
  return (const volatile struct hairspring_cycles_slot *)hairspring_arm_open.map + 1 + cpu;
}

/* Another CPU than at the read before, or something happened to this CPU's counter since. Rare, so
 * that a read is short. */
__attribute__((noinline, unused)) static void hairspring_see_change(int cpu, uint32_t events) {
  if (cpu == hairspring_arm_open.cpu) hairspring_arm.doubts |= HAIRSPRING_DOUBT_STOPPED;
  hairspring_arm_open.events = events;
  hairspring_see_cpu(cpu);
}

/* The module adds up the wraps in each CPU's slot, so there is no bound for two reads. The slot is
 * this CPU's own if the CPU is the same before and after. */
static uint64_t hairspring_module_ticks(void) {
  const volatile struct hairspring_cycles_slot *slot;
  uint32_t sequence, events;
  uint64_t base;
  unsigned long low, count;
  int cpu;
  do {
    cpu = hairspring_cpu();
    slot = hairspring_slot(cpu);
    sequence = slot->sequence & ~1u;
    HAIRSPRING_COMPILER_BARRIER();
    base = slot->base;
    low = (unsigned long)slot->low;
    events = slot->events;
    count = hairspring_cycles_between_barriers();
    HAIRSPRING_COMPILER_BARRIER();
  } while (slot->sequence != sequence || hairspring_cpu() != cpu);
  if (cpu != hairspring_arm_open.cpu || events != hairspring_arm_open.events)
    hairspring_see_change(cpu, events);
  return base + (count - low);
}

static inline int hairspring_map_slots(void) {
  const volatile struct hairspring_cycles_header *header;
  if (!hairspring_map(HAIRSPRING_ARM_PAGE_BYTES)) return 0;
  header = (const volatile struct hairspring_cycles_header *)hairspring_arm_open.map;
  if (header->magic != HAIRSPRING_CYCLES_MAGIC || header->version != HAIRSPRING_CYCLES_VERSION)
    return 0;
  size_t bytes = header->slots * sizeof(struct hairspring_cycles_slot);
  if (bytes <= HAIRSPRING_ARM_PAGE_BYTES) return 1;
  (void)munmap(hairspring_arm_open.map, HAIRSPRING_ARM_PAGE_BYTES);
  hairspring_arm_open.map = NULL;
  return hairspring_map((bytes + HAIRSPRING_ARM_PAGE_BYTES - 1) / HAIRSPRING_ARM_PAGE_BYTES *
      HAIRSPRING_ARM_PAGE_BYTES);
}

/* The open file keeps the module from being unloaded. */
static const char *hairspring_enable_module(void) {
  if (!hairspring_guard_reads()) return "no handler can be set for refused reads";
  hairspring_arm_open.descriptor = open("/dev/" HAIRSPRING_CYCLES_DEVICE, O_RDONLY | O_CLOEXEC);
  if (hairspring_arm_open.descriptor < 0)
    return errno == EACCES ||
        errno == EPERM ? "no permission to open /dev/" HAIRSPRING_CYCLES_DEVICE
                                             : "the kernel module " HAIRSPRING_CYCLES_DEVICE
                                                 " is not loaded";
  if (!hairspring_map_slots()) return "the kernel module has another version than this program";
  /* what perf has given back is on again */
  (void)ioctl(hairspring_arm_open.descriptor, HAIRSPRING_CYCLES_CHECK);
  if ((hairspring_slot(hairspring_cpu())->state & HAIRSPRING_CYCLES_TAKEN) != 0)
    return "a perf event holds the counter";
  hairspring_arm_open.lost = 0;
  (void)hairspring_pmccntr();
  return hairspring_was_refused() ? "the core refuses the read" : NULL;
}

/* ---- the system's clocks --------------------------------------------------------------------- */

static const char *hairspring_enable_timer(void) {
  if (!hairspring_guard_reads()) return "no handler can be set for refused reads";
  hairspring_arm_open.lost = 0;
  (void)hairspring_cntvct();
  return hairspring_was_refused() ? "there is no generic timer, or programs may not read it" : NULL;
}
static uint64_t hairspring_timer_ticks(void) { return hairspring_cntvct(); }
static uint64_t hairspring_timer_hz(void) {
  uint64_t hz = hairspring_cntfrq();
  return hairspring_was_refused() ? 0 : hz;
}

static const char *hairspring_enable_system(void) { return NULL; }
static uint64_t hairspring_system_ticks(void) {
  struct timespec now;
  HAIRSPRING_ISB();
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  HAIRSPRING_ISB();
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static uint64_t hairspring_system_rate(void) { return 1000000000u; }

static const struct hairspring_arm_clock hairspring_arm_clocks[] = {
    /* The module comes first: perf's event would take the counter from it. */
#if defined(__aarch64__)
    {HAIRSPRING_CYCLES_NAME, hairspring_enable_module, hairspring_module_ticks, hairspring_core_hz,
        UINT64_MAX, hairspring_close},
    {"perf cycles", hairspring_enable_perf, hairspring_perf_ticks, hairspring_core_hz, UINT64_MAX,
        hairspring_close},
    {"cntvct", hairspring_enable_timer, hairspring_timer_ticks, hairspring_timer_hz, UINT64_MAX,
        NULL},
    {"perf read", hairspring_enable_perf_read, hairspring_perf_read, hairspring_core_hz, UINT64_MAX,
        hairspring_close},
#else
    {HAIRSPRING_CYCLES_NAME, hairspring_enable_module, hairspring_module_ticks, hairspring_core_hz,
        UINT64_MAX, hairspring_close},
    {"perf read", hairspring_enable_perf_read, hairspring_perf_read, hairspring_core_hz, UINT64_MAX,
        hairspring_close},
    {"cntvct", hairspring_enable_timer, hairspring_timer_ticks, hairspring_timer_hz, UINT64_MAX,
        NULL},
#endif
    {"monotonic", hairspring_enable_system, hairspring_system_ticks, hairspring_system_rate,
        UINT64_MAX, NULL},
};

/* A program has no overflow interrupt: the module has a timer on each CPU, and perf's page follows
 * the counter. */
static inline int hairspring_clock_overflow_interrupt(int on) {
  (void)on;
  return 0;
}

static inline void hairspring_look_for_doubts(void) {
  if (hairspring_arm.ticks == hairspring_module_ticks) {
    (void)ioctl(hairspring_arm_open.descriptor, HAIRSPRING_CYCLES_CHECK);
    (void)hairspring_module_ticks();
    if (hairspring_slot(hairspring_cpu())->state != HAIRSPRING_CYCLES_ON)
      hairspring_arm.doubts |= HAIRSPRING_DOUBT_STOPPED;
  }
  if (hairspring_was_refused()) hairspring_arm.doubts |= HAIRSPRING_DOUBT_LOST;
}

#endif
