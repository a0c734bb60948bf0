/* The same routine timed by the chip itself, with its 16-bit timer; the serial line sends the
 * observations as the table that `hairspring fit` reads. The rows are those of
 * HAIRSPRING_BENCHMARK, up to 256 copies. */
#define HAIRSPRING_BAUD 9600
#include "hairspring_clock.h"
#include "routine.h"
#include <avr/interrupt.h>
#include <avr/sleep.h>

int main(void);

HAIRSPRING_BENCHMARK(routine, (), ROUTINE());

int main(void) {
  static const struct hairspring_entry entries[] = {{.benchmark = &routine}};
  struct hairspring_rounds rounds = {ROUNDS, HAIRSPRING_CLOCK_SPAN, hairspring_uart_put, 7, 0};
  hairspring_uart_start();
  if (hairspring_clock_start()) hairspring_observe_all(&rounds, entries, 1);
  while ((UCSR0A & 1 << UDRE0) == 0) {
  }
  cli();
  sleep_mode();
  return 0;
}
