/* Type parameters, arguments, and alternatives in the same rounds.
 *
 *   c++ -O2 containers.cpp $(pkg-config --cflags --libs hairspring) -o containers
 *   ./containers */
#include "hairspring.hpp"

#include <cstring>
#include <deque>
#include <numeric>
#include <vector>

namespace {

/* Adds an element at the end and removes it again. One copy of that code is enough: it is called.
 * */
const auto push_and_pop = [](const std::string &name, auto tag) {
  using Container = typename decltype(tag)::type;
  return hairspring::bench(name, hairspring::called([](Container &container) {
                             container.push_back(7);
                             hairspring::keep(container);
                             container.pop_back();
                           }))
      .state([] { return Container(16); });
};

unsigned char from[4096], to[4096];

}  // namespace

HAIRSPRING_ADD(hairspring::compare_types<std::vector<int>, std::deque<int>>("push_pop",
    push_and_pop));

HAIRSPRING_BENCH("copy", [](std::int64_t size) {
  std::memcpy(to, from, static_cast<std::size_t>(size));
}).setup([](std::int64_t size) { std::memset(from, static_cast<int>(size & 0x7f), sizeof from); })
    .argument("size", {64, 4096});

HAIRSPRING_BENCH("sum", hairspring::called([](const std::vector<int> &numbers) {
                   return std::accumulate(numbers.begin(), numbers.end(), 0);
                 })).state([](std::int64_t length) { return std::vector<int>(
                     static_cast<std::size_t>(length), 3); }).argument("length", {16, 256});

HAIRSPRING_ADD(hairspring::compare(
    hairspring::bench("by variable", [](const std::pair<std::uint64_t, std::uint64_t> &x) {
        return x.first / x.second; }).state([] {
      return std::pair<std::uint64_t, std::uint64_t>{1000, 10};
    }),
    hairspring::bench("by constant", [](std::uint64_t x) { return x / 10; })
        .state([] { return std::uint64_t{1000}; })));

HAIRSPRING_MAIN_CPP
