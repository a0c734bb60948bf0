/* The code that avr.py checks. Every function tests one property of the headers in probe/chip/. */
#define HAIRSPRING_PORT B
#define HAIRSPRING_BIT 7
#include "hairspring_pin.h"

void toggle(void);
void use_byte(uint8_t x);
void use_word(uint16_t x);
uint16_t opaque_word(uint16_t x);
void use_memory(void);
void pulse_1(struct hairspring_pin *pin);
void pulse_3(struct hairspring_pin *pin);
void pulse_210(struct hairspring_pin *pin);
void delay(uint16_t cycles);
uint64_t clock_read(void);
void start_pin(void);
uint8_t start_clock(void);

#define NOP __asm__ volatile("nop")

void toggle(void) {
  HAIRSPRING_PIN_READY();
  HAIRSPRING_PIN_TOGGLE();
}
void use_byte(uint8_t x) { HAIRSPRING_USE(x); }
void use_word(uint16_t x) { HAIRSPRING_USE(x); }
uint16_t opaque_word(uint16_t x) {
  HAIRSPRING_OPAQUE(x);
  return x;
}
void use_memory(void) { HAIRSPRING_USE_MEMORY(); }
void pulse_1(struct hairspring_pin *pin) { HAIRSPRING_PULSE(pin, 1, NOP); }
void pulse_3(struct hairspring_pin *pin) { HAIRSPRING_PULSE(pin, 3, NOP); }
void pulse_210(struct hairspring_pin *pin) { HAIRSPRING_PULSE(pin, 210, NOP); }
void delay(uint16_t cycles) { hairspring_delay(cycles); }
uint64_t clock_read(void) { return hairspring_clock_read(); }
void start_pin(void) { hairspring_pin_start(); }
uint8_t start_clock(void) { return hairspring_clock_start(); }
