/* Hairspring with only a pin: the pin is toggled around the code, an external recorder records it,
 * and `hairspring capture` makes observations of the recording. spec/capture.md describes the
 * pattern. -Iprobe -Iprobe/chip.
 *
 *   static struct hairspring_pin pin = HAIRSPRING_PIN(200);  // one unit of the header is 200 us
 *   hairspring_pin_start();
 *   for (;;) {                                               // one frame is one round
 *     hairspring_frame_steps(&pin, 1, 1, 3); // three pulses: first, step, number of copies
 *     HAIRSPRING_PULSE(&pin, 1, code());
 *     HAIRSPRING_PULSE(&pin, 2, code());
 *     HAIRSPRING_PULSE(&pin, 3, code());
 *     hairspring_frame_end(&pin);
 *   }
 *
 * A pulse is: a dithered gap, the pin from idle to active, k straight-line copies, the pin back to
 * idle. As with hairspring.h, the results of the code must be used (HAIRSPRING_USE), and its inputs
 * must be opaque (HAIRSPRING_OPAQUE).
 *
 * The pin, before the #include, one of:
 *   HAIRSPRING_PORT B, HAIRSPRING_BIT 7     AVR: the port by its letter. The port's other outputs
 *                                           should stay low in a simulator. The toggle is
 *                                           `sbi PINB, 7`: 2 bytes, 2 cycles
 *     and HAIRSPRING_TOGGLE_BY_OUT          `out PINB, mask`, the mask in a register: 2 bytes, 1
 *                                           cycle
 *     or HAIRSPRING_TOGGLE_BY_STS           `sts PINH, mask`, for ports beyond the reach of sbi and
 *                                           out: 4 bytes, 2 cycles
 *   HAIRSPRING_TOGGLE_ADDRESS, _MASK        others: the address of a register that toggles the pin,
 *                                           and the value to store there
 *   HAIRSPRING_PIN_TOGGLE()                 any: your own statement
 *   HAIRSPRING_PIN_BEGIN(), _END()          any: two statements, for pins that can only be set and
 *                                           cleared
 * A frame of kind 15, hairspring_frame_reference, gives the recorder the chip's own second. In the
 * last three cases, or if the idle level is not low, the program itself must make the pin an
 * output.
 *
 * Everything is timed in cycles of the CPU, so F_CPU or HAIRSPRING_CLOCK_HZ must be known. AVR
 * waits by counting cycles and needs no timer; interrupts must be off. Elsewhere
 * HAIRSPRING_DELAY(cycles) waits, by default with hairspring_clock.h. */
#ifndef HAIRSPRING_CHIP_PIN_H
#define HAIRSPRING_CHIP_PIN_H

#include <stdint.h>

#ifndef __OPTIMIZE__
#error "the copies and the toggles are correct only with optimisation: -Os, -O1 or more"
#endif

#include "hairspring_clock.h"

/* ---- the pin --------------------------------------------------------------------------------- */

#if defined(__AVR__) && defined(HAIRSPRING_PORT)

#ifndef HAIRSPRING_BIT
#error "HAIRSPRING_PORT without HAIRSPRING_BIT: which bit of the port, 0 to 7?"
#endif
#define HAIRSPRING_JOIN_PORT(name, letter) name##letter
#define HAIRSPRING_PORT_REGISTER(name, letter) HAIRSPRING_JOIN_PORT(name, letter)
#define HAIRSPRING_PIN_REGISTER HAIRSPRING_PORT_REGISTER(PIN, HAIRSPRING_PORT)
#define HAIRSPRING_PIN_MASK ((uint8_t)(1u << HAIRSPRING_BIT))
HAIRSPRING_STATIC_ASSERT(HAIRSPRING_BIT >= 0 && HAIRSPRING_BIT <= 7, "HAIRSPRING_BIT is 0 to 7");

/* In C++ an address is not a constant for the compiler; there the assembler refuses a port that is
 * out of reach. */
#ifdef __cplusplus
#define HAIRSPRING_REACHED(limit, words)
#else
#define HAIRSPRING_REACHED(limit, words) \
    _Static_assert(_SFR_IO_ADDR(HAIRSPRING_PIN_REGISTER) < (limit), words);
#endif

#if defined(HAIRSPRING_TOGGLE_BY_STS)
#define HAIRSPRING_PIN_READY() uint8_t hairspring_mask = HAIRSPRING_PIN_MASK; \
HAIRSPRING_OPAQUE(hairspring_mask)
#define HAIRSPRING_PIN_TOGGLE() \
  __asm__ volatile("sts %0, %1" : : "n"(_SFR_MEM_ADDR(HAIRSPRING_PIN_REGISTER)), \
      "r"(hairspring_mask) : "memory")
#elif defined(HAIRSPRING_TOGGLE_BY_OUT)
HAIRSPRING_REACHED(0x40, "out does not reach this port: HAIRSPRING_TOGGLE_BY_STS")
#define HAIRSPRING_PIN_READY() uint8_t hairspring_mask = HAIRSPRING_PIN_MASK; \
HAIRSPRING_OPAQUE(hairspring_mask)
#define HAIRSPRING_PIN_TOGGLE() \
  __asm__ volatile("out %0, %1" : : "I"(_SFR_IO_ADDR(HAIRSPRING_PIN_REGISTER)), \
      "r"(hairspring_mask) : "memory")
#else
HAIRSPRING_REACHED(0x20, "sbi does not reach this port: HAIRSPRING_TOGGLE_BY_STS")
#define HAIRSPRING_PIN_TOGGLE() \
  __asm__ volatile("sbi %0, %1" : : "I"(_SFR_IO_ADDR(HAIRSPRING_PIN_REGISTER)), \
      "I"(HAIRSPRING_BIT) : "memory")
#endif

/* An output, low, which is the idle level. */
static inline void hairspring_pin_start(void) {
  HAIRSPRING_PORT_REGISTER(PORT, HAIRSPRING_PORT) &= (uint8_t)~HAIRSPRING_PIN_MASK;
  HAIRSPRING_PORT_REGISTER(DDR, HAIRSPRING_PORT) |= HAIRSPRING_PIN_MASK;
}

#elif defined(HAIRSPRING_TOGGLE_ADDRESS) && defined(HAIRSPRING_TOGGLE_MASK)

/* Address and mask are in registers before the pulse begins. */
#define HAIRSPRING_PIN_READY()                                                                     \
  volatile uint32_t *hairspring_toggle = \
      (volatile uint32_t *)(uintptr_t)(HAIRSPRING_TOGGLE_ADDRESS); \
  uint32_t hairspring_mask = (HAIRSPRING_TOGGLE_MASK);                                             \
  HAIRSPRING_OPAQUE(hairspring_toggle);                                                            \
  HAIRSPRING_OPAQUE(hairspring_mask)
#define HAIRSPRING_PIN_TOGGLE()            \
  do {                                     \
    HAIRSPRING_USE_MEMORY();               \
    *hairspring_toggle = hairspring_mask;  \
    HAIRSPRING_USE_MEMORY();               \
  } while (0)

#elif !defined(HAIRSPRING_PIN_TOGGLE) && \
    !(defined(HAIRSPRING_PIN_BEGIN) && defined(HAIRSPRING_PIN_END))
#error "no pin: define HAIRSPRING_PORT and _BIT, HAIRSPRING_TOGGLE_ADDRESS and _MASK, or HAIRSPRING_PIN_TOGGLE()"
#endif

/* The operands of a toggle, in registers. */
#ifndef HAIRSPRING_PIN_READY
#define HAIRSPRING_PIN_READY() (void)0
#endif
#ifndef HAIRSPRING_PIN_BEGIN
#define HAIRSPRING_PIN_BEGIN() HAIRSPRING_PIN_TOGGLE()
#define HAIRSPRING_PIN_END() HAIRSPRING_PIN_TOGGLE()
#endif

/* ---- waiting --------------------------------------------------------------------------------- */

/* HAIRSPRING_WIDTH_CYCLES and the others: approximate time of the functions below in addition to
 * their waits. */
#if defined(__AVR__)

typedef uint16_t hairspring_cycles;
#define HAIRSPRING_LEAST_UNIT 200u
#define HAIRSPRING_MOST_UNIT 8000u
#define HAIRSPRING_WIDTH_CYCLES 23u
#define HAIRSPRING_MARK_CYCLES 62u
#define HAIRSPRING_GAP_CYCLES 133u
#define HAIRSPRING_END_CYCLES 80u
#define HAIRSPRING_READ_CYCLES 50u

/* Waits this many cycles, at least 4, and 7 more, exact to the cycle. A skip takes 2 cycles,
 * without it `rjmp .+0` takes one more and `lpm` two; then four cycles a turn. */
__attribute__((always_inline)) static inline void hairspring_delay(hairspring_cycles cycles) {
  __asm__ volatile(
      "sbrc %A0, 0\n\trjmp .+0\n\t"
      "sbrc %A0, 1\n\tlpm\n\t"
      "lsr %B0\n\tror %A0\n\tlsr %B0\n\tror %A0\n"
      "1:\tsbiw %0, 1\n\tbrne 1b"
      : "+w"(cycles)
      :
      : "r0", "memory");
}

#else

typedef uint32_t hairspring_cycles;
#define HAIRSPRING_LEAST_UNIT 1000u
#define HAIRSPRING_MOST_UNIT 100000u
#define HAIRSPRING_WIDTH_CYCLES 0u
#define HAIRSPRING_MARK_CYCLES 0u
#define HAIRSPRING_GAP_CYCLES 0u
#define HAIRSPRING_END_CYCLES 0u
#ifndef HAIRSPRING_DELAY
#define HAIRSPRING_DELAY(cycles) hairspring_wait_cycles(cycles)
static inline void hairspring_wait_cycles(hairspring_cycles cycles) {
  uint64_t begin = hairspring_now();
  while (hairspring_now() - begin < cycles) {
  }
}
#endif
static inline void hairspring_delay(hairspring_cycles cycles) { HAIRSPRING_DELAY(cycles); }

#endif

/* ---- frames ---------------------------------------------------------------------------------- */

/* The state of a pin's frames. */
struct hairspring_pin {
  /* of the header, in cycles; 200 to 8000 on AVR, 1000 to 100000 elsewhere */
  hairspring_cycles unit;
  uint16_t random;        /* any number but 0 */
  uint8_t turn;           /* which of three lengths the next gap has */
  uint8_t check;          /* CRC-8 of the payload so far */
};

/* A pin with a unit of this many microseconds. */
#define HAIRSPRING_PIN(microseconds) {HAIRSPRING_PIN_UNIT((uint64_t)(microseconds) * \
    (HAIRSPRING_CLOCK_HZ) / 1000000u), 1, 0, 0}
#ifdef __cplusplus
template <bool possible> struct hairspring_unit {
  static_assert(possible, "unit out of range, in cycles of the clock");
};
#define HAIRSPRING_PIN_UNIT(cycles) \
  (hairspring_cycles)((cycles) + \
    0 * sizeof(hairspring_unit<((cycles) >= HAIRSPRING_LEAST_UNIT && \
        (cycles) <= HAIRSPRING_MOST_UNIT)>))
#else
#define HAIRSPRING_PIN_UNIT(cycles) \
  (hairspring_cycles)((cycles) + 0 * sizeof(struct { \
    _Static_assert((cycles) >= HAIRSPRING_LEAST_UNIT && (cycles) <= HAIRSPRING_MOST_UNIT, \
        "unit out of range, in cycles of the clock"); \
    char none; \
  }))
#endif

/* Not inline, so that they take the same cycles from every place. */
#define HAIRSPRING_CALLED __attribute__((noinline, unused)) static

/* A gap and a pulse of the header. */
HAIRSPRING_CALLED void hairspring_mark(const struct hairspring_pin *pin, uint8_t gap,
    uint8_t pulse) {
  HAIRSPRING_PIN_READY();
  hairspring_delay((hairspring_cycles)(gap * pin->unit - HAIRSPRING_MARK_CYCLES));
  HAIRSPRING_PIN_BEGIN();
  hairspring_delay((hairspring_cycles)(pulse * pin->unit - HAIRSPRING_WIDTH_CYCLES));
  HAIRSPRING_PIN_END();
}

/* A random time from 0 to half a unit. */
static inline hairspring_cycles hairspring_dither(struct hairspring_pin *pin) {
  uint16_t random = pin->random;
  random ^= (uint16_t)(random << 7);
  random ^= random >> 9;
  random ^= (uint16_t)(random << 8);
  pin->random = random;
  return (hairspring_cycles)((uint32_t)random * (uint32_t)(pin->unit >> 1) >> 16);
}

/* A gap of 2 to 4 units in turn, with a dither. */
HAIRSPRING_CALLED void hairspring_gap(struct hairspring_pin *pin) {
  uint8_t units = (uint8_t)(2 + pin->turn);
  hairspring_delay((hairspring_cycles)(hairspring_dither(pin) + units * pin->unit -
      HAIRSPRING_GAP_CYCLES));
  pin->turn = pin->turn == 2 ? 0 : (uint8_t)(pin->turn + 1);
}

HAIRSPRING_CALLED void hairspring_send(struct hairspring_pin *pin, uint8_t byte) {
  for (uint8_t bits = 8; bits > 0; bits--) {
    uint8_t bit = byte >> 7;
    byte = (uint8_t)(byte << 1);
    pin->check = (uint8_t)((uint8_t)(pin->check << 1) ^ ((pin->check >> 7) != bit ? 7u : 0u));
    hairspring_mark(pin, 1, (uint8_t)(1 + bit));
  }
}

static inline void hairspring_send_16(struct hairspring_pin *pin, uint16_t number) {
  hairspring_send(pin, (uint8_t)(number >> 8));
  hairspring_send(pin, (uint8_t)number);
}

/* Idle, preamble, and the first byte of the payload. */
HAIRSPRING_CALLED void hairspring_frame_begin(struct hairspring_pin *pin, uint8_t kind) {
  hairspring_delay((hairspring_cycles)(hairspring_dither(pin) + pin->unit));
  hairspring_mark(pin, 7, 4);
  hairspring_mark(pin, 1, 1);
  hairspring_mark(pin, 3, 3);
  pin->turn = 0;
  pin->check = 0xff;
  hairspring_send(pin, (uint8_t)(0x10u | kind));
}

/* Begins a frame in which pulse i = 0, 1, ... has first + i * step copies. */
HAIRSPRING_CALLED void hairspring_frame_steps(struct hairspring_pin *pin, uint16_t first,
    uint16_t step, uint8_t pulses) {
  hairspring_frame_begin(pin, 0);
  hairspring_send_16(pin, first);
  hairspring_send_16(pin, step);
  hairspring_send(pin, pulses);
  hairspring_send(pin, pin->check);
}

/* Begins a frame with a list of counts: those of all components (1 to 4) of the first pulse, of the
 * second, ... */
HAIRSPRING_CALLED void hairspring_frame_list(struct hairspring_pin *pin, uint8_t components,
    uint8_t pulses, const uint16_t *counts) {
  hairspring_frame_begin(pin, components);
  hairspring_send(pin, pulses);
  for (uint16_t counts_left = (uint16_t)(components * pulses); counts_left > 0; counts_left -= 1)
    hairspring_send_16(pin, *counts++);
  hairspring_send(pin, pin->check);
}

/* Waits until the clock reaches this value, on AVR exact to the cycle; call
 * hairspring_clock_start() before. */
HAIRSPRING_CALLED void hairspring_wait_until(uint64_t ticks) {
#if defined(__AVR__)
  while ((int64_t)(ticks - hairspring_now()) > 1000) {
  }
  hairspring_delay((hairspring_cycles)(ticks - hairspring_now()) - HAIRSPRING_READ_CYCLES);
#else
  while ((int64_t)(ticks - hairspring_now()) > 0) {
  }
#endif
}

/* A whole frame of `number` pulses, at least 2, whose leading edges are `interval` cycles apart by
 * the clock: at least 8 units and 2000 cycles. The host calibrates the rate of its recorder with it
 * (`--reference`). */
HAIRSPRING_CALLED void hairspring_frame_reference(struct hairspring_pin *pin, uint8_t number,
    uint32_t interval) {
  HAIRSPRING_PIN_READY();
  hairspring_frame_begin(pin, 15);
  hairspring_send(pin, number);
  hairspring_send(pin, pin->check);
  uint64_t next = hairspring_now() + 7u * (uint32_t)pin->unit + 2000u;
  for (; number > 0; number--) {
    hairspring_wait_until(next);
    HAIRSPRING_PIN_BEGIN();
    hairspring_delay((hairspring_cycles)(2u * pin->unit));
    HAIRSPRING_PIN_END();
    next += interval;
  }
  hairspring_mark(pin, 7, 1);
}

/* Ends a frame. */
HAIRSPRING_CALLED void hairspring_frame_end(struct hairspring_pin *pin) {
  hairspring_delay((hairspring_cycles)(hairspring_dither(pin) + 4u * pin->unit -
      HAIRSPRING_END_CYCLES));
  hairspring_mark(pin, 1, 1);
}

/* A pulse around k copies, for which HAIRSPRING_REPEAT_k must exist: 1 to 20, 24, 32, 48, 55, 64,
 * 96, 100, 128, 192, 210, 256. For another number define, for example, HAIRSPRING_REPEAT_25(...) as
 * HAIRSPRING_REPEAT_24 and HAIRSPRING_REPEAT_1. */
#define HAIRSPRING_PULSE(pin, k, ...)        \
  do {                                       \
    hairspring_gap(pin);                     \
    HAIRSPRING_PIN_READY();                  \
    HAIRSPRING_PIN_BEGIN();                  \
    HAIRSPRING_REPEAT_##k(__VA_ARGS__)       \
    HAIRSPRING_PIN_END();                    \
  } while (0)

/* The numbers up to 20 that hairspring.h does not have, and those of the report's Table 1. */
#define HAIRSPRING_REPEAT_5(...) HAIRSPRING_REPEAT_4(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_7(...) HAIRSPRING_REPEAT_4(__VA_ARGS__) HAIRSPRING_REPEAT_3(__VA_ARGS__)
#define HAIRSPRING_REPEAT_9(...) HAIRSPRING_REPEAT_8(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_10(...) HAIRSPRING_REPEAT_8(__VA_ARGS__) HAIRSPRING_REPEAT_2(__VA_ARGS__)
#define HAIRSPRING_REPEAT_11(...) HAIRSPRING_REPEAT_8(__VA_ARGS__) HAIRSPRING_REPEAT_3(__VA_ARGS__)
#define HAIRSPRING_REPEAT_13(...) HAIRSPRING_REPEAT_12(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_14(...) HAIRSPRING_REPEAT_12(__VA_ARGS__) HAIRSPRING_REPEAT_2(__VA_ARGS__)
#define HAIRSPRING_REPEAT_15(...) HAIRSPRING_REPEAT_12(__VA_ARGS__) HAIRSPRING_REPEAT_3(__VA_ARGS__)
#define HAIRSPRING_REPEAT_17(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_1(__VA_ARGS__)
#define HAIRSPRING_REPEAT_18(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_2(__VA_ARGS__)
#define HAIRSPRING_REPEAT_19(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_3(__VA_ARGS__)
#define HAIRSPRING_REPEAT_20(...) HAIRSPRING_REPEAT_16(__VA_ARGS__) HAIRSPRING_REPEAT_4(__VA_ARGS__)
#define HAIRSPRING_REPEAT_55(...) HAIRSPRING_REPEAT_48(__VA_ARGS__) HAIRSPRING_REPEAT_7(__VA_ARGS__)
#define HAIRSPRING_REPEAT_100(...) HAIRSPRING_REPEAT_96(__VA_ARGS__) \
    HAIRSPRING_REPEAT_4(__VA_ARGS__)
#define HAIRSPRING_REPEAT_210(...) HAIRSPRING_REPEAT_192(__VA_ARGS__) \
    HAIRSPRING_REPEAT_18(__VA_ARGS__)

#endif
