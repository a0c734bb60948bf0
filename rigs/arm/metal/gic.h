/* The interrupt controller (GICv2) and the generic timer of QEMU's board `virt`, armv7-A. */
#ifndef HAIRSPRING_RIG_GIC_H
#define HAIRSPRING_RIG_GIC_H

#include <stdint.h>

#include "timer.h"

#define GIC_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define GIC_DISTRIBUTOR 0x08000000u
#define GIC_CPU 0x08010000u
#define GIC_PMU 23u
#define GIC_TIMER 27u

static inline void gic_start(void) {
  GIC_REGISTER(GIC_DISTRIBUTOR) = 1;
  GIC_REGISTER(GIC_DISTRIBUTOR + 0x100u) = 1u << GIC_PMU | 1u << GIC_TIMER;
  GIC_REGISTER(GIC_CPU + 4u) = 0xff; /* all priorities */
  GIC_REGISTER(GIC_CPU) = 1;
  __asm__ volatile("cpsie i" : : : "memory");
}
static inline uint32_t gic_acknowledge(void) { return GIC_REGISTER(GIC_CPU + 12u) & 1023u; }
static inline void gic_end(uint32_t number) { GIC_REGISTER(GIC_CPU + 16u) = number; }

static inline void timer_control(uint32_t bits) {
  __asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" : : "r"(bits) : "memory");
}
static inline void timer_stop(void) { timer_control(0); }

/* Waits without running instructions. Other interrupts than the timer's may wake the core in
 * between. */
static inline void timer_sleep(unsigned seconds) {
  uint64_t end = hairspring_cntvct() + (uint64_t)seconds * hairspring_cntfrq();
  __asm__ volatile("mcrr p15, 3, %Q0, %R0, c14" : : "r"(end) : "memory");
  timer_control(1);
  while (hairspring_cntvct() < end) __asm__ volatile("wfi" : : : "memory");
}

#endif
