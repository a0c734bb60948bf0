/* Code that needs an init before every run: a sort of 16 numbers that must be shuffled again, and
 * data flushed from the caches.
 *
 *   c++ -O2 sort.cpp $(pkg-config --cflags --libs hairspring) -o sort && ./sort */
#include "hairspring.hpp"

#include <algorithm>
#include <array>

namespace {

using Numbers = std::array<int, 16>;
constexpr Numbers mixed = {9, 3, 15, 0, 7, 12, 1, 5, 14, 2, 11, 6, 13, 4, 10, 8};

/* Numbers on separate cache lines. */
struct alignas(64) Table {
  std::array<int, 1024> numbers{};
};

void insert_in_order(Numbers &numbers) {
  for (std::size_t at = 1; at < numbers.size(); at += 1) {
    const int number = numbers[at];
    std::size_t place = at;
    for (; place > 0 && numbers[place - 1] > number; place -= 1)
      numbers[place] = numbers[place - 1];
    numbers[place] = number;
  }
}

}  // namespace

int main(int argc, char **argv) {
  const auto mix = [](Numbers &numbers) { numbers = mixed; };
  const auto unmixed = [] { return Numbers{}; };
  static Table table;
  hairspring::Suite suite;
  suite.add(hairspring::compare(
      hairspring::bench("std::sort",
          hairspring::called([](Numbers &numbers) { std::sort(numbers.begin(), numbers.end()); }))
          .state(unmixed)
          .init(mix),
      hairspring::bench("insertion", hairspring::called(insert_in_order)).state(unmixed)
          .init(mix)));
  suite.add(hairspring::bench("cold read", [](const Table &data) { return data.numbers[0]; })
                .state([]() -> const Table & { return table; })
                .cold([](const Table &data) { return hairspring::Bytes{&data, 64}; }));
  return suite.run(argc, argv);
}
