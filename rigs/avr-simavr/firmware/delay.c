/* One pulse around hairspring_delay(c) for each c from 4 to 400, in order: each must be a cycle
 * longer than the one before. */
#define HAIRSPRING_PORT B
#define HAIRSPRING_BIT 7
#include "hairspring_pin.h"
#include <avr/interrupt.h>
#include <avr/sleep.h>

int main(void);

int main(void) {
  hairspring_pin_start();
  for (uint16_t cycles = 4; cycles <= 400; cycles++) {
    HAIRSPRING_PIN_BEGIN();
    hairspring_delay(cycles);
    HAIRSPRING_PIN_END();
  }
  cli();
  sleep_mode();
  return 0;
}
