/* Registers of the cycle counter in ARM's performance monitors: CCNT of armv7-A and PMCCNTR_EL0 of
 * aarch64, with one set of functions. Privileged code only, except where user access was enabled.
 * Needs no other header: the kernel module uses it too. */
#ifndef HAIRSPRING_ARM_PMU_H
#define HAIRSPRING_ARM_PMU_H

#if defined(__aarch64__)
#define HAIRSPRING_SYSTEM_READ(into, a64, a32) \
    __asm__ volatile("mrs %0, " a64 : "=r"(into) : : "memory")
#define HAIRSPRING_SYSTEM_WRITE(value, a64, a32) \
    __asm__ volatile("msr " a64 ", %0" : : "r"(value) : "memory")
#else
#define HAIRSPRING_SYSTEM_READ(into, a64, a32) \
    __asm__ volatile("mrc p15, 0, %0, " a32 : "=r"(into) : : "memory")
#define HAIRSPRING_SYSTEM_WRITE(value, a64, a32) \
    __asm__ volatile("mcr p15, 0, %0, " a32 : : "r"(value) : "memory")
#endif
#define HAIRSPRING_ISB() __asm__ volatile("isb" : : : "memory")

/* hairspring_NAME() and hairspring_set_NAME(value): one instruction each. */
#define HAIRSPRING_REGISTER_READ(name, a64, a32)           \
  static inline unsigned long hairspring_##name(void) {    \
    unsigned long hairspring_value;                        \
    HAIRSPRING_SYSTEM_READ(hairspring_value, a64, a32);    \
    return hairspring_value;                               \
  }
#define HAIRSPRING_REGISTER(name, a64, a32)                          \
  HAIRSPRING_REGISTER_READ(name, a64, a32)                           \
  static inline void hairspring_set_##name(unsigned long value) {    \
    HAIRSPRING_SYSTEM_WRITE(value, a64, a32);                        \
  }

HAIRSPRING_REGISTER(pmcr, "pmcr_el0", "c9, c12, 0")             /* the paper's PMNC */
HAIRSPRING_REGISTER(pmcntenset, "pmcntenset_el0", "c9, c12, 1") /* CNTENS */
HAIRSPRING_REGISTER(pmcntenclr, "pmcntenclr_el0", "c9, c12, 2")
HAIRSPRING_REGISTER(pmovsr, "pmovsclr_el0", "c9, c12, 3")       /* FLAG; writing 1 clears */
HAIRSPRING_REGISTER(pmselr, "pmselr_el0", "c9, c12, 5")
HAIRSPRING_REGISTER(pmccntr, "pmccntr_el0", "c9, c13, 0")       /* CCNT */
HAIRSPRING_REGISTER(pmxevtyper, "pmxevtyper_el0", "c9, c13, 1")
HAIRSPRING_REGISTER(pmuserenr, "pmuserenr_el0", "c9, c14, 0")
HAIRSPRING_REGISTER(pmintenset, "pmintenset_el1", "c9, c14, 1")
HAIRSPRING_REGISTER(pmintenclr, "pmintenclr_el1", "c9, c14, 2")
HAIRSPRING_REGISTER_READ(debug_features, "id_aa64dfr0_el1", "c0, c1, 2")

#define HAIRSPRING_PMCR_E 1ul         /* all counters on */
#define HAIRSPRING_PMCR_P 2ul         /* event counters to 0 */
#define HAIRSPRING_PMCR_C 4ul         /* cycle counter to 0 */
#define HAIRSPRING_PMCR_D 8ul         /* one tick in 64 cycles */
#define HAIRSPRING_PMCR_DP 32ul       /* off where event counting is prohibited */
#define HAIRSPRING_PMCR_LC 64ul       /* aarch64: overflow at 64 bits */
#define HAIRSPRING_PMU_CYCLES 0x80000000ul /* the cycle counter's bit in the other registers */

/* User access: armv7 has one bit, with which a program may also write all of these registers.
 * aarch64 has one bit for reading the cycle counter only. */
#if defined(__aarch64__)
#define HAIRSPRING_PMUSERENR_CYCLES 4ul
#else
#define HAIRSPRING_PMUSERENR_CYCLES 1ul
#endif

/* Version of the performance monitors, 0 if there are none. Without them the other registers may be
 * undefined instructions. The Cortex-A8 states version 0 although it has them, so on armv7 0
 * becomes 1. */
static inline unsigned hairspring_pmu_version(void) {
#if defined(__aarch64__)
  unsigned version = (unsigned)(hairspring_debug_features() >> 8) & 15u;
  return version == 15 ? 0 : version;
#else
  unsigned version = (unsigned)(hairspring_debug_features() >> 24) & 15u;
  return version == 15 ? 0 : version == 0 ? 1 : version;
#endif
}

/* In which modes the cycle counter counts: all of them are 0, except EL2 of aarch64, which has a
 * bit. PMUv1 of armv7 has no such filter; on aarch64 the first version is PMUv3, with the number 1,
 * and has it. */
#if defined(__aarch64__)
#define HAIRSPRING_FILTER_ALL 0x08000000ul
#define HAIRSPRING_FILTER_VERSION 1u
#else
#define HAIRSPRING_FILTER_ALL 0ul
#define HAIRSPRING_FILTER_VERSION 2u
#endif
static inline unsigned long hairspring_pmu_filter(void) {
  unsigned long selected, filter;
  if (hairspring_pmu_version() < HAIRSPRING_FILTER_VERSION) return 0;
  selected = hairspring_pmselr();
  hairspring_set_pmselr(31);
  HAIRSPRING_ISB();
  filter = hairspring_pmxevtyper();
  hairspring_set_pmselr(selected);
  HAIRSPRING_ISB();
  return filter;
}
static inline void hairspring_pmu_set_filter(unsigned long filter) {
  unsigned long selected;
  if (hairspring_pmu_version() < HAIRSPRING_FILTER_VERSION) return;
  selected = hairspring_pmselr();
  hairspring_set_pmselr(31);
  HAIRSPRING_ISB();
  hairspring_set_pmxevtyper(filter);
  hairspring_set_pmselr(selected);
  HAIRSPRING_ISB();
}

/* What hairspring_pmu_start changes. */
struct hairspring_pmu_settings {
  unsigned long control, enabled, filter, user;
};

static inline void hairspring_pmu_save(struct hairspring_pmu_settings *saved) {
  saved->control = hairspring_pmcr();
  saved->enabled = hairspring_pmcntenset() & HAIRSPRING_PMU_CYCLES;
  saved->filter = hairspring_pmu_filter();
  saved->user = hairspring_pmuserenr();
}

/* Kwon and Choi, Figure 2: PMNC: counters on, reset; CNTENS: the cycle counter on; FLAG: overflow
 * cleared. `resets` is HAIRSPRING_PMCR_C, with _P where no one else uses the event counters;
 * `divided` is HAIRSPRING_PMCR_D or 0. */
static inline void hairspring_pmu_start(unsigned long resets, unsigned long divided) {
  unsigned long control = hairspring_pmcr() & ~(HAIRSPRING_PMCR_D | HAIRSPRING_PMCR_DP |
      HAIRSPRING_PMCR_P | HAIRSPRING_PMCR_C);
  hairspring_pmu_set_filter(HAIRSPRING_FILTER_ALL);
  hairspring_set_pmcr(control | HAIRSPRING_PMCR_E | divided | resets);
  hairspring_set_pmcntenset(HAIRSPRING_PMU_CYCLES);
  hairspring_set_pmovsr(HAIRSPRING_PMU_CYCLES);
  HAIRSPRING_ISB();
}

/* Restores the settings. The count itself is not restored: nothing else used it. All counters stay
 * on while somebody else's, such as perf's event counters, which were started since, are on. */
static inline void hairspring_pmu_hand_back(const struct hairspring_pmu_settings *saved) {
  unsigned long other_counters = hairspring_pmcntenset() & ~HAIRSPRING_PMU_CYCLES,
      on = other_counters != 0 ? HAIRSPRING_PMCR_E : 0;
  hairspring_set_pmuserenr(saved->user);
  if (saved->enabled == 0) hairspring_set_pmcntenclr(HAIRSPRING_PMU_CYCLES);
  hairspring_set_pmovsr(HAIRSPRING_PMU_CYCLES);
  hairspring_pmu_set_filter(saved->filter);
  hairspring_set_pmcr((saved->control & ~(HAIRSPRING_PMCR_P | HAIRSPRING_PMCR_C)) | on);
  HAIRSPRING_ISB();
}

/* Whether the cycle counter is on, counts every cycle or one in 64 as set, and is not used by the
 * kernel's perf, which has its overflow interrupt on. */
static inline int hairspring_pmu_is_ours(unsigned long divided) {
  unsigned long control = hairspring_pmcr() & (HAIRSPRING_PMCR_E | HAIRSPRING_PMCR_D);
  return control == (HAIRSPRING_PMCR_E | divided) &&
      (hairspring_pmcntenset() & HAIRSPRING_PMU_CYCLES) != 0;
}
static inline int hairspring_pmu_is_perfs(void) {
  return (hairspring_pmintenset() & HAIRSPRING_PMU_CYCLES) != 0;
}

#endif
