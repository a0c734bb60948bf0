/* A benchmark of hairspring.h, with the clock of the core: prints the table of its readings. */
#include "hairspring_arm.h"
#include "rig.h"

HAIRSPRING_BENCHMARK(nop, (), __asm__ volatile("nop"));

static char line[160];
static unsigned letters;

static void put(char letter) {
  line[letters++] = letter;
  if (letter != '\n' && letters < sizeof line - 1) return;
  line[letters] = 0;
  say(line);
  letters = 0;
}

int main(void) {
  static const struct hairspring_entry entries[] = {{.benchmark = &nop}};
  struct hairspring_rounds rounds = {5, UINT32_MAX, put, 7, 0};
  if (!hairspring_clock_start()) return 1;
  hairspring_observe_all(&rounds, entries, 1);
  return 0;
}
