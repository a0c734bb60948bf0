/* The clocks of a Cortex-M, for hairspring_arm.h. */
#ifndef HAIRSPRING_ARM_CORTEX_M_H
#define HAIRSPRING_ARM_CORTEX_M_H

#include "../hairspring_dwt.h"
#include "choice.h"

#define HAIRSPRING_M_SYST_CSR HAIRSPRING_M_REGISTER(0xe000e010u)
#define HAIRSPRING_M_SYST_RVR HAIRSPRING_M_REGISTER(0xe000e014u)
#define HAIRSPRING_M_SYST_CVR HAIRSPRING_M_REGISTER(0xe000e018u)

#define HAIRSPRING_M_SYST_ENABLE 1u /* SYST_CSR */
#define HAIRSPRING_M_SYST_INTERRUPT 2u
#define HAIRSPRING_M_SYST_CORE_CLOCK 4u
#define HAIRSPRING_M_SYST_WRAPPED 0x00010000u /* cleared by reading it */
#define HAIRSPRING_M_SYST_MOST 0x00ffffffu

/* Interrupts are off during a read, because their handlers may read the clock too. */
static inline uint32_t hairspring_m_mask(void) {
  uint32_t mask;
  __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(mask) : : "memory");
  return mask;
}
static inline void hairspring_m_unmask(uint32_t mask) {
  __asm__ volatile("msr primask, %0" : : "r"(mask) : "memory");
}

#ifdef HAIRSPRING_HAS_DWT
static const char *hairspring_enable_dwt(void) { return hairspring_dwt_start(); }
static uint64_t hairspring_dwt_ticks(void) {
  uint32_t mask = hairspring_m_mask();
  uint64_t ticks = hairspring_extend_by_comparison(&hairspring_arm.wraps, hairspring_dwt_low(), 32);
  hairspring_m_unmask(mask);
  return ticks;
}
static inline unsigned long hairspring_cycles_raw(void) { return HAIRSPRING_M_DWT_CYCCNT; }
#endif

static const char *hairspring_enable_systick(void) {
  if ((HAIRSPRING_M_SYST_CSR & HAIRSPRING_M_SYST_ENABLE) != 0)
    return "the program uses it as its own tick";
  HAIRSPRING_M_SYST_RVR = HAIRSPRING_M_SYST_MOST;
  HAIRSPRING_M_SYST_CVR = 0;
  HAIRSPRING_M_SYST_CSR = HAIRSPRING_M_SYST_CORE_CLOCK | HAIRSPRING_M_SYST_ENABLE;
  return NULL;
}
static void hairspring_disable_systick(void) { HAIRSPRING_M_SYST_CSR = 0; }
/* It counts down, and sets its flag when it reaches 0: that is the first count of a wrap. Its
 * interrupts are exactly one wrap apart, so that comparing counts would not tell them from none. */
static inline uint32_t hairspring_systick_low(void) {
  return (0u - hairspring_m_ordered(&HAIRSPRING_M_SYST_CVR)) & HAIRSPRING_M_SYST_MOST;
}
static inline int hairspring_systick_wrapped(void) {
  return (HAIRSPRING_M_SYST_CSR & HAIRSPRING_M_SYST_WRAPPED) != 0;
}
static inline void hairspring_systick_clear(void) {}
static uint64_t hairspring_systick_ticks(void) {
  uint32_t mask = hairspring_m_mask();
  uint64_t ticks =
      hairspring_extend_by_flag(&hairspring_arm.wraps, 24, hairspring_systick_low,
          hairspring_systick_wrapped, hairspring_systick_clear);
  hairspring_m_unmask(mask);
  return ticks;
}

static const struct hairspring_arm_clock hairspring_arm_clocks[] = {
#ifdef HAIRSPRING_HAS_DWT
    {"dwt cyccnt", hairspring_enable_dwt, hairspring_dwt_ticks, hairspring_core_hz, UINT32_MAX,
        NULL},
#endif
    {"systick", hairspring_enable_systick, hairspring_systick_ticks, hairspring_core_hz,
        HAIRSPRING_M_SYST_MOST,
     hairspring_disable_systick},
};

/* SysTick's handler calls hairspring_clock_keep(). The DWT has no interrupt of its own. */
static inline int hairspring_clock_overflow_interrupt(int on) {
  if (hairspring_arm.ticks != hairspring_systick_ticks) return 0;
  HAIRSPRING_M_SYST_CSR = HAIRSPRING_M_SYST_CORE_CLOCK | HAIRSPRING_M_SYST_ENABLE |
      (on ? HAIRSPRING_M_SYST_INTERRUPT : 0u);
  return 1;
}

/* Reading the control register of SysTick also clears its flag. */
static inline int hairspring_systick_is_off(void) {
  uint32_t mask = hairspring_m_mask(), control = HAIRSPRING_M_SYST_CSR;
  if ((control & HAIRSPRING_M_SYST_WRAPPED) != 0)
    hairspring_arm.wraps.high += HAIRSPRING_M_SYST_MOST + 1u;
  hairspring_m_unmask(mask);
  return (control & HAIRSPRING_M_SYST_ENABLE) == 0;
}

static inline void hairspring_look_for_doubts(void) {
#ifdef HAIRSPRING_HAS_DWT
  if (hairspring_arm.ticks == hairspring_dwt_ticks &&
      (HAIRSPRING_M_DWT_CTRL & HAIRSPRING_M_CYCCNTENA) == 0)
    hairspring_arm.doubts |= HAIRSPRING_DOUBT_STOPPED;
#endif
  if (hairspring_arm.ticks == hairspring_systick_ticks && hairspring_systick_is_off())
    hairspring_arm.doubts |= HAIRSPRING_DOUBT_STOPPED;
}

#endif
