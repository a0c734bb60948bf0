/* A complete program for any chip: compiled, and run if there is a simulator. */
#if !defined(__AVR__) && !defined(OWN_PIN)
#define HAIRSPRING_TOGGLE_ADDRESS 0x40000000u
#define HAIRSPRING_TOGGLE_MASK 0x80u
#elif !defined(__AVR__)
void pin_up(void);
void pin_down(void);
#define HAIRSPRING_PIN_BEGIN() pin_up()
#define HAIRSPRING_PIN_END() pin_down()
#endif
#include "hairspring_pin.h"

void put_somewhere(char letter);
void send_frames(void);
void observe(void);

HAIRSPRING_BENCHMARK(multiply, (uint32_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c;
    HAIRSPRING_OPAQUE(x));

void send_frames(void) {
  static struct hairspring_pin pin = HAIRSPRING_PIN(100);
  static const uint16_t counts[] = {1, 1, 2, 1};
  if (!hairspring_clock_start()) return;
  hairspring_frame_reference(&pin, 5, HAIRSPRING_CLOCK_HZ);
  hairspring_frame_steps(&pin, 1, 1, 2);
  HAIRSPRING_PULSE(&pin, 1, __asm__ volatile("nop"));
  HAIRSPRING_PULSE(&pin, 2, __asm__ volatile("nop"));
  hairspring_frame_end(&pin);
  hairspring_frame_list(&pin, 2, 2, counts);
  HAIRSPRING_PULSE(&pin, 1, __asm__ volatile("nop"));
  HAIRSPRING_PULSE(&pin, 3, __asm__ volatile("nop"));
  hairspring_frame_end(&pin);
}

void observe(void) {
  static const struct hairspring_entry all_entries[] = {{.benchmark = &multiply}};
  struct hairspring_rounds rounds = {20, 10000, put_somewhere, 7, 0};
  if (hairspring_clock_start()) hairspring_observe_all(&rounds, all_entries, 1);
}
