/* The experiments of the report's Table 1: a frame of six seconds for the calibration, then FRAMES
 * frames of one of:
 *   LINE            pulses of k = 1, 2, 3, ... 20 copies
 *   DIRECT          pulses of k = 1, 10, 20, 55, 100, 210 copies
 *   DIFFERENTIAL    two pulses, of 1 and 2 copies, without a header, so that thousands of them take
 *                   less than an hour */
#ifndef HAIRSPRING_PORT
#define HAIRSPRING_PORT B
#define HAIRSPRING_BIT 7
#endif
#include "hairspring_pin.h"
#include "routine.h"
#include <avr/interrupt.h>
#include <avr/sleep.h>

int main(void);

#define PULSE(k) HAIRSPRING_PULSE(pin, k, ROUTINE());

#if defined(LINE)

static void frame(struct hairspring_pin *pin) {
  hairspring_frame_steps(pin, 1, 1, 20);
  PULSE(1) PULSE(2) PULSE(3) PULSE(4) PULSE(5) PULSE(6) PULSE(7) PULSE(8) PULSE(9) PULSE(10)
  PULSE(11) PULSE(12) PULSE(13) PULSE(14) PULSE(15) PULSE(16) PULSE(17) PULSE(18) PULSE(19)
      PULSE(20)
  hairspring_frame_end(pin);
}

#elif defined(DIRECT)

static void frame(struct hairspring_pin *pin) {
  static const uint16_t counts[] = {1, 10, 20, 55, 100, 210};
  hairspring_frame_list(pin, 1, 6, counts);
  PULSE(1) PULSE(10) PULSE(20) PULSE(55) PULSE(100) PULSE(210)
  hairspring_frame_end(pin);
}

#elif defined(DIFFERENTIAL)

#define FREE
static void frame(struct hairspring_pin *pin) {
  PULSE(1) PULSE(2)
}

#else
#error "LINE, DIRECT or DIFFERENTIAL?"
#endif

int main(void) {
  struct hairspring_pin pin = HAIRSPRING_PIN(200);
  hairspring_pin_start();
  hairspring_clock_start();
#ifndef FREE
  hairspring_frame_reference(&pin, 6, F_CPU);
#endif
  for (uint16_t frames = 0; frames < FRAMES; frames += 1) {
    frame(&pin);
  }
  cli();
  sleep_mode();
  return 0;
}
