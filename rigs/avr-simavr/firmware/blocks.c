/* The experiment of the report's Table 2: INPUTS pulses, each around one run of the coder with a
 * different input. There is no header, because the counts are not numbers of copies: they come from
 * the simulator, pulse by pulse. */
#define HAIRSPRING_PORT B
#define HAIRSPRING_BIT 7
#include "hairspring_pin.h"
#include "coder.h"
#include <avr/interrupt.h>
#include <avr/sleep.h>

#define MOST_SAMPLES 64

int main(void);

static uint16_t random_number(void) {
  static uint32_t state = 2463534242u;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (uint16_t)(state >> 8);
}

/* 1 to 64 samples of any loudness, from any state of the coder; sometimes at the limits of both. */
static uint8_t new_input(struct coder *coder, int16_t *samples) {
  uint8_t count = (uint8_t)(1 + random_number() % MOST_SAMPLES),
      shift = (uint8_t)(random_number() % 16);
  uint8_t extreme = random_number() % 4 == 0;
  for (uint8_t at = 0; at < count; at++) {
    samples[at] = extreme ? (random_number() % 2 ? INT16_MAX : INT16_MIN)
        : (int16_t)((int16_t)random_number() >> shift);
  }
  coder->predicted = (int16_t)random_number();
  coder->index = (int8_t)(random_number() % 89);
  return count;
}

int main(void) {
  static int16_t samples[MOST_SAMPLES];
  static uint8_t coded[MOST_SAMPLES / 2];
  struct hairspring_pin pin = HAIRSPRING_PIN(200);
  struct coder coder = {0, 0};
  hairspring_pin_start();
  for (uint16_t inputs = 0; inputs < INPUTS; inputs++) {
    uint8_t count = new_input(&coder, samples);
    HAIRSPRING_PULSE(&pin, 1, code_samples(&coder, samples, coded, count));
    HAIRSPRING_USE_MEMORY();
  }
  cli();
  sleep_mode();
  return 0;
}
