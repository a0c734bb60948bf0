/* With the engine: names of all kinds, code that throws, two types in the same rounds with an init,
 * a stopwatch. */
#include "hairspring.hpp"

#include <stdexcept>
#include <vector>

#undef NDEBUG
#include <cassert>

namespace {

void the_stopwatch_times_and_refuses() {
  hairspring::Stopwatch watch;
  const hairspring::Time first = watch.elapsed(), second = watch.elapsed(0.9);
  assert(first.low_ns <= first.ns && first.ns <= first.high_ns && second.level < 0.91);
  assert(watch.lap().high_ns > watch.stop().low_ns - 1e9);
  bool refused = false;
  try {
    watch.stop();
  } catch (const hairspring::Error &error) {
    refused = std::string(error.what()).find("start first") != std::string::npos;
  }
  assert(refused);
  refused = false;
  try {
    const hairspring::Stopwatch sundial("sundial");
  } catch (const hairspring::Error &error) {
    refused = std::string(error.what()).find("sundial") != std::string::npos;
  }
  assert(refused);
  hairspring::Time span{};
  { const hairspring::ScopedSpan scope(watch, &span); }
  assert(span.level > 0.94);
  unsigned calls = 0;
  { const hairspring::ScopedSpan scope(watch, [&calls](const hairspring::Time &) { calls += 1; }); }
  assert(calls == 1);
}

}  // namespace

int main(int argc, char **argv) {
  the_stopwatch_times_and_refuses();
  hairspring::Suite suite;
  suite.add(hairspring::bench("\"a\", b/c:1\t#;<&>%s %n \xc3\xa9", hairspring::called([] {})));
  suite.add(hairspring::bench("throws",
      hairspring::called([] { throw std::runtime_error("the spring is loose"); })));
  suite.add(hairspring::compare_types<int, double>("kinds", [](const std::string &name, auto tag) {
    using Number = typename decltype(tag)::type;
    return hairspring::bench(name, hairspring::called([](Number &number) { number += 1; }))
        .state([] { return Number{}; })
        .init(hairspring::called([](Number &number) { number = 0; }));
  }));
  return suite.run(argc, argv);
}
