/* Hairspring on a chip without a system: its clock for hairspring.h, and a serial line for what is
 * printed. Include it instead of hairspring.h; -Iprobe -Iprobe/chip.
 *
 *   AVR          a 16-bit timer (its number is HAIRSPRING_TIMER, by default 1) at the rate of the
 *                CPU
 *   Cortex-M     the cycle counter of the DWT (armv7-M and up; the M0 has none)
 *   RISC-V       the cycle counter, with Zicsr in -march (rv32imac_zicsr); HAIRSPRING_MACHINE_MODE
 *                reads mcycle instead of cycle
 *
 *   hairspring_clock_start()   starts it; 1 if it counts, 0 if it does not (a chip or a simulator
 *                              without it)
 *   hairspring_now()           its ticks
 *   hairspring_uart_start()    AVR: opens the serial line 0, 8 bits, no parity, at the speed
 *                              HAIRSPRING_BAUD
 *   hairspring_uart_put(c)     AVR: sends a byte; fits hairspring_rounds.put
 *
 * With HAIRSPRING_READ_CLOCK() defined, your own clock is used, for parts without such a timer
 * (ATtiny85).
 *
 * The rate of the clock must be known: F_CPU (AVR) or HAIRSPRING_CLOCK_HZ, in ticks per second. Two
 * reads must not be further apart than HAIRSPRING_CLOCK_SPAN ticks: software extends the AVR's 16
 * bits and the 32 of the DWT, by a flag or by comparison with the read before, which detects one
 * overflow, but not two. */
#ifndef HAIRSPRING_CHIP_CLOCK_H
#define HAIRSPRING_CHIP_CLOCK_H

#include <stdint.h>

#include "../hairspring_dwt.h"

#if !defined(HAIRSPRING_CLOCK_HZ) && defined(F_CPU)
#define HAIRSPRING_CLOCK_HZ F_CPU
#endif
#ifndef HAIRSPRING_CLOCK_HZ
#error "the rate of the clock is not known: define F_CPU or HAIRSPRING_CLOCK_HZ, in ticks per second"
#endif

#ifdef __cplusplus
#define HAIRSPRING_STATIC_ASSERT(condition, words) static_assert(condition, words)
#else
#define HAIRSPRING_STATIC_ASSERT(condition, words) _Static_assert(condition, words)
#endif

#if defined(__AVR__)
#include <avr/io.h>
#endif

#if defined(HAIRSPRING_READ_CLOCK)

/* The program's own. */

#elif defined(__AVR__)

#ifndef HAIRSPRING_TIMER
#define HAIRSPRING_TIMER 1
#endif
#ifndef TIFR1
#error "this part has no 16-bit timer with flags of its own: define HAIRSPRING_READ_CLOCK()"
#endif
#define HAIRSPRING_JOIN_TWO(a, b) a##b
#define HAIRSPRING_JOIN_THREE(a, b, c) a##b##c
#define HAIRSPRING_TIMER_REGISTER(name, timer) HAIRSPRING_JOIN_TWO(name, timer)
#define HAIRSPRING_TIMER_CONTROL(timer, letter) HAIRSPRING_JOIN_THREE(TCCR, timer, letter)
#define HAIRSPRING_TCNT HAIRSPRING_TIMER_REGISTER(TCNT, HAIRSPRING_TIMER)
#define HAIRSPRING_TIFR HAIRSPRING_TIMER_REGISTER(TIFR, HAIRSPRING_TIMER)
#define HAIRSPRING_TOV (uint8_t)(1u << HAIRSPRING_TIMER_REGISTER(TOV, HAIRSPRING_TIMER))

#define HAIRSPRING_CLOCK "timer"
#define HAIRSPRING_CLOCK_SPAN 65535u

/* The time of the last read; it is assembled in memory, because a shift of 64 bits is a call and
 * takes long. */
static union {
  struct __attribute__((packed)) {
    uint16_t low;
    uint32_t overflows;
    uint16_t none;
  } part;
  uint64_t ticks;
} hairspring_clock_last;

/* Counts every cycle of the CPU, from 0, without an interrupt. */
static inline uint8_t hairspring_clock_start(void) {
  HAIRSPRING_TIMER_CONTROL(HAIRSPRING_TIMER, A) = 0;
  HAIRSPRING_TIMER_CONTROL(HAIRSPRING_TIMER, B) = 1; /* clock / 1 */
  HAIRSPRING_TCNT = 0;
  HAIRSPRING_TIFR = HAIRSPRING_TOV;
  hairspring_clock_last.ticks = 0;
  return HAIRSPRING_TCNT != HAIRSPRING_TCNT;
}

/* The count is read first. If the overflow flag is set after a high count, the overflow came after
 * the read. The only branch is a skip of one cycle, so that a read with an overflow takes no
 * longer: the flag is written only to be cleared. Interrupts are off, because they might use the
 * register through which the timer passes its upper byte. */
static inline uint64_t hairspring_clock_read(void) {
  uint8_t status = SREG;
  __asm__ volatile("cli" : : : "memory");
  uint16_t low = HAIRSPRING_TCNT;
  uint8_t is_low = (uint8_t)((uint16_t)~low >> 15);
  uint8_t overflowed = HAIRSPRING_TIFR & is_low;
  __asm__ volatile("sbrc %0, 0\n\tout %1, %0" : : "r"(overflowed),
      "I"(_SFR_IO_ADDR(HAIRSPRING_TIFR)) : "memory");
  hairspring_clock_last.part.low = low;
  hairspring_clock_last.part.overflows += overflowed;
  uint64_t ticks = hairspring_clock_last.ticks;
  SREG = status;
  __asm__ volatile("" : : : "memory");
  return ticks;
}
HAIRSPRING_STATIC_ASSERT(HAIRSPRING_TOV == 1, "the overflow flag of a 16-bit timer is bit 0");

#ifdef HAIRSPRING_BAUD
#ifndef UBRR0
#error "this part has no serial line 0: leave out HAIRSPRING_BAUD, and print with your own function (hairspring_rounds.put)"
#endif
/* With the double rate bit, a step of the divider is eight cycles. */
#define HAIRSPRING_BAUD_STEPS ((HAIRSPRING_CLOCK_HZ + 4ul * HAIRSPRING_BAUD) / \
    (8ul * HAIRSPRING_BAUD))
#if HAIRSPRING_BAUD_STEPS < 1 || HAIRSPRING_BAUD_STEPS > 4096
#error "HAIRSPRING_BAUD cannot be made from this clock"
#elif 1000 * HAIRSPRING_CLOCK_HZ / HAIRSPRING_BAUD > 8 * 1020 * HAIRSPRING_BAUD_STEPS || \
    1000 * HAIRSPRING_CLOCK_HZ / HAIRSPRING_BAUD < 8 * 980 * HAIRSPRING_BAUD_STEPS
#error "HAIRSPRING_BAUD is off by more than 2 % with this clock: choose another"
#endif

static inline void hairspring_uart_start(void) {
  UBRR0 = (uint16_t)(HAIRSPRING_BAUD_STEPS - 1);
  UCSR0A = 1 << U2X0;
  UCSR0C = 1 << UCSZ01 | 1 << UCSZ00;
  UCSR0B = 1 << TXEN0;
}
static inline void hairspring_uart_put(char letter) {
  while ((UCSR0A & 1 << UDRE0) == 0) {
  }
  UDR0 = (uint8_t)letter;
}
#endif

#elif defined(HAIRSPRING_HAS_DWT)

#define HAIRSPRING_CLOCK "dwt cyccnt"
#define HAIRSPRING_CLOCK_SPAN 0xffffffffu

static uint32_t hairspring_clock_last, hairspring_clock_high;

/* Counts from 0. */
static inline uint8_t hairspring_clock_start(void) {
  hairspring_clock_last = hairspring_clock_high = 0;
  return hairspring_dwt_start() == NULL && hairspring_dwt_low() != hairspring_dwt_low();
}

static inline uint64_t hairspring_clock_read(void) {
  uint32_t low = hairspring_dwt_low();
  if (low < hairspring_clock_last) hairspring_clock_high += 1;
  hairspring_clock_last = low;
  return (uint64_t)hairspring_clock_high << 32 | low;
}

#elif defined(__riscv)

#define HAIRSPRING_CLOCK_SPAN UINT64_MAX
#ifdef HAIRSPRING_MACHINE_MODE
#define HAIRSPRING_CLOCK "mcycle"
#define HAIRSPRING_CYCLE_REGISTER "mcycle"
#else
#define HAIRSPRING_CLOCK "cycle"
#define HAIRSPRING_CYCLE_REGISTER "cycle"
#endif

#define HAIRSPRING_READ_CYCLES(into, half) \
    __asm__ volatile("csrr %0, " HAIRSPRING_CYCLE_REGISTER half : "=r"(into) : : "memory")

/* On 32 bits the upper half is read before and after the lower. */
static inline uint64_t hairspring_clock_read(void) {
#if __riscv_xlen == 32
  uint32_t high, low, again;
  do {
    HAIRSPRING_READ_CYCLES(high, "h");
    HAIRSPRING_READ_CYCLES(low, "");
    HAIRSPRING_READ_CYCLES(again, "h");
  } while (high != again);
  return (uint64_t)high << 32 | low;
#else
  uint64_t cycles;
  HAIRSPRING_READ_CYCLES(cycles, "");
  return cycles;
#endif
}

/* It runs from the start, unless the machine stopped it. */
static inline uint8_t hairspring_clock_start(void) {
  return hairspring_clock_read() != hairspring_clock_read();
}

#else
#error "hairspring_clock.h knows AVR, Cortex-M from armv7-M on and RISC-V: use hairspring.h with HAIRSPRING_READ_CLOCK()"
#endif

#ifndef HAIRSPRING_FREESTANDING
#define HAIRSPRING_FREESTANDING
#endif
#ifndef HAIRSPRING_READ_CLOCK
#define HAIRSPRING_READ_CLOCK() hairspring_clock_read()
#endif
#include "../hairspring.h"

#endif
