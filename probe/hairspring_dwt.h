/* The cycle counter of a Cortex-M (DWT_CYCCNT): its registers, and the order in which it is
 * enabled. For probe/arm/ and probe/chip/, which include it; by itself it has no clock. armv6-M and
 * the baseline of armv8-M have no such counter: HAIRSPRING_HAS_DWT is not defined there. */
#ifndef HAIRSPRING_DWT_H
#define HAIRSPRING_DWT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__ARM_ARCH) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

#define HAIRSPRING_M_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* The count of a timer, ordered. */
static inline uint32_t hairspring_m_ordered(volatile uint32_t *counter) {
  __asm__ volatile("isb" : : : "memory");
  uint32_t count = *counter;
  __asm__ volatile("isb" : : : "memory");
  return count;
}

#if __ARM_ARCH >= 7 && !defined(__ARM_ARCH_8M_BASE__)
#define HAIRSPRING_HAS_DWT

#define HAIRSPRING_M_DEMCR HAIRSPRING_M_REGISTER(0xe000edfcu)
#define HAIRSPRING_M_DWT_CTRL HAIRSPRING_M_REGISTER(0xe0001000u)
#define HAIRSPRING_M_DWT_CYCCNT HAIRSPRING_M_REGISTER(0xe0001004u)
#define HAIRSPRING_M_DWT_LAR HAIRSPRING_M_REGISTER(0xe0001fb0u)

#define HAIRSPRING_M_TRCENA 0x01000000u   /* DEMCR */
#define HAIRSPRING_M_CYCCNTENA 1u         /* DWT_CTRL */
#define HAIRSPRING_M_NOCYCCNT 0x02000000u /* DWT_CTRL */
#define HAIRSPRING_M_UNLOCK 0xc5acce55u   /* DWT_LAR */

/* Starts the counter at 0. Returns NULL, or why it cannot be had; whether it counts shows at the
 * second read. The trace unit comes first: without it the other registers do not answer. The lock,
 * which only some parts have (the M7), comes before the first write to the DWT. */
static inline const char *hairspring_dwt_start(void) {
  HAIRSPRING_M_DEMCR |= HAIRSPRING_M_TRCENA;
  __asm__ volatile("dsb\n\tisb" : : : "memory");
  HAIRSPRING_M_DWT_LAR = HAIRSPRING_M_UNLOCK;
  if ((HAIRSPRING_M_DWT_CTRL & HAIRSPRING_M_NOCYCCNT) != 0)
    return "this DWT has no cycle counter (DWT_CTRL.NOCYCCNT)";
  HAIRSPRING_M_DWT_CYCCNT = 0;
  HAIRSPRING_M_DWT_CTRL |= HAIRSPRING_M_CYCCNTENA;
  __asm__ volatile("dsb\n\tisb" : : : "memory");
  if ((HAIRSPRING_M_DWT_CTRL & HAIRSPRING_M_CYCCNTENA) == 0)
    return "the DWT does not answer: there is none, or it is locked";
  return NULL;
}
static inline uint32_t hairspring_dwt_low(void) {
  return hairspring_m_ordered(&HAIRSPRING_M_DWT_CYCCNT);
}

#endif
#endif
#endif
