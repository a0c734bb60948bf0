/* Single spans of time with their uncertainty.
 *
 *   c++ -O2 stopwatch.cpp $(pkg-config --cflags --libs hairspring) -o stopwatch && ./stopwatch */
#include "hairspring.hpp"

#include <cstdio>
#include <vector>

namespace {

void say(const char *what, const hairspring::Time &time) {
  if (time.below_resolution) {
    std::printf("%-8s below resolution (< %.1f ns)\n", what, time.bound_ns);
  } else {
    std::printf("%-8s %.1f ns, %.1f to %.1f at %.0f %%\n", what, time.ns, time.low_ns, time.high_ns,
        100.0 * time.level);
  }
}

}  // namespace

int main() {
  hairspring::Stopwatch watch; /* measures its overhead, and starts */
  watch.start();
  const std::vector<int> numbers(100000, 1);
  hairspring::keep(numbers);
  const hairspring::Time made = watch.stop();

  watch.start();
  const hairspring::Time nothing = watch.stop();

  hairspring::Time summed{};
  long sum = 0;
  {
    const hairspring::ScopedSpan span(watch, &summed);
    for (const int number : numbers) sum += number;
    hairspring::keep(sum);
  }
  say("made", made);
  say("nothing", nothing);
  say("summed", summed);
  const hairspring::ScopedSpan to_the_end(watch,
      [](const hairspring::Time &time) { say("to the end", time); });
  return sum == 100000 ? 0 : 1;
}
