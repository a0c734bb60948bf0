/* The rows of a benchmark in C++: every row runs its number of copies, in its order, with its own
 * state; an exception becomes a failure with its text. Without the engine. */
#include <cstdint>

/* A fake clock that only moves when code runs: a body adds 1000, an init 1. */
static std::uint64_t ticks;
static std::uint64_t read_ours() { return ticks; }
#define HAIRSPRING_READ_CLOCK read_ours
#include "hairspring.hpp"

#include <cstdio>
#include <deque>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#undef NDEBUG
#include <cassert>

namespace {

constexpr std::uint32_t shadow = 3;

std::int64_t context_of(const hairspring::detail::Case &one_case) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(one_case.context.get()));
}

std::uint64_t run(const hairspring::detail::Case &one_case, const hairspring_row &row) {
  return row.run(read_ours, context_of(one_case));
}

const hairspring::detail::Case &only_case(const std::vector<hairspring::Group> &groups) {
  assert(groups.size() == 1 && groups[0].cases().size() == 1);
  return groups[0].cases()[0];
}

/* Checks that every row has its counts; returns the existing orders. */
std::set<std::uint32_t> counted(const std::vector<hairspring::Group> &groups,
    std::uint64_t per_body, std::uint64_t per_init) {
  std::set<std::uint32_t> orders;
  const auto &one_case = only_case(groups);
  for (const auto &row : one_case.rows) {
    const std::uint64_t expected = hairspring_order(&row) == shadow ? 0
        : row.bodies * per_body + row.inits * per_init;
    assert(run(one_case, row) == expected);
    orders.insert(hairspring_order(&row));
  }
  return orders;
}

/* Rows that run blocks, where processors learn code. */
#if defined(__x86_64__) || defined(__aarch64__)
constexpr std::size_t blocks = 6;
#else
constexpr std::size_t blocks = 0;
#endif

void every_row_runs_as_often_as_it_says() {
  const auto plain = hairspring::bench("plain", [] { ticks += 1000; }).groups();
  assert(counted(plain, 1000, 0) == std::set<std::uint32_t>{0} &&
      only_case(plain).rows.size() == 12 + blocks);
  const auto both_parts = hairspring::bench("both", [](std::int64_t) { ticks += 1000; })
      .init([] { ticks += 1; }).groups();
  assert((counted(both_parts, 1000, 1) == std::set<std::uint32_t>{0, 1, 2, 3}) &&
      only_case(both_parts).rows.size() == 12 + 27);
}

/* Flushing takes no ticks of the fake clock. */
void cold_rows_run_too() {
#ifdef HAIRSPRING_FLUSH_LINE
  static const std::array<char, 300> data{};
  const auto cold = hairspring::bench("cold", [] { ticks += 1000; })
      .cold([](std::int64_t) { return hairspring::Bytes{&data, 300}; }).groups();
  assert((counted(cold, 1000, 0) == std::set<std::uint32_t>{0, 3}) &&
      std::string(only_case(cold).second) == "flush");
#endif
}

/* The rows, for rows.py to compare with the engine's. */
void rows_are_printed() {
  const auto print = [](const char *kind, const std::vector<hairspring::Group> &groups) {
    for (const auto &row : only_case(groups).rows) {
      const char *const of = (row.order & HAIRSPRING_IN_BLOCKS) != 0 ? "blocks" : kind;
      std::printf("%s %u %u %u\n", of, unsigned{row.bodies}, unsigned{row.inits},
          unsigned{hairspring_order(&row)});
    }
  };
  print("line", hairspring::bench("line", [] {}).groups());
  print("init", hairspring::bench("init", [] {}).init([] {}).groups());
#ifdef HAIRSPRING_FLUSH_LINE
  print("cold", hairspring::bench("cold", [] {})
      .cold([](std::int64_t) { return hairspring::Bytes{&ticks, sizeof ticks}; }).groups());
#endif
}

/* A type that can be neither copied nor moved. */
struct Fixed {
  explicit Fixed(std::uint64_t first) : count(first) {}
  Fixed(const Fixed &) = delete;
  std::uint64_t count;
};

void every_row_has_a_state_of_its_own() {
  const auto fixed = hairspring::bench("fixed", [](Fixed &state) { ticks += state.count++; })
                         .state([] { return Fixed(1); })
                         .groups();
  const auto &one_case = only_case(fixed);
  assert(run(one_case, one_case.rows[3]) == 1 + 2 + 3 + 4 &&
      run(one_case, one_case.rows[3]) == 1 + 2 + 3 + 4);
  const auto owned = hairspring::bench("owned",
      [](const std::unique_ptr<int> &state) { ticks += static_cast<std::uint64_t>(*state); })
                         .state([](std::int64_t argument) {
                             return std::make_unique<int>(static_cast<int>(argument)); })
                         .argument("n", {5, -3})
                         .groups();
  assert(owned.size() == 2 && owned[0].cases()[0].name == "owned/n:5" &&
      owned[1].cases()[0].name == "owned/n:-3");
  assert(run(owned[0].cases()[0], owned[0].cases()[0].rows[1]) == 10);
}

void the_copies_first_run_untimed_on_a_state_that_is_heavy_to_make() {
  const auto owner = hairspring::bench("owner",
      [](std::vector<std::uint64_t> &state) { ticks += state[0]++; })
                         .state([] { return std::vector<std::uint64_t>{1}; })
                         .groups();
  assert(run(only_case(owner), only_case(owner).rows[3]) == 65 + 66 + 67 + 68);
  assert(only_case(owner).rows[9].bodies == 128 &&
      run(only_case(owner), only_case(owner).rows[9]) == 128 * 129 + 128 * 127 / 2);
  const auto large = hairspring::bench("large",
      [](std::array<std::uint64_t, 9> &state) { ticks += state[0]++; })
                         .state([] { return std::array<std::uint64_t, 9>{1}; })
                         .init([](std::array<std::uint64_t, 9> &state) { state[1] += 1; })
                         .groups();
  assert(only_case(large).rows[0].bodies == 1 &&
      run(only_case(large), only_case(large).rows[0]) == 65);
  static std::vector<std::uint64_t> shared{1};
  const auto once = hairspring::bench("shared",
      [](std::vector<std::uint64_t> &state) { ticks += state[0]++; })
                        .state([]() -> std::vector<std::uint64_t> & { return shared; })
                        .groups();
  assert(run(only_case(once), only_case(once).rows[1]) == 1 + 2 &&
      run(only_case(once), only_case(once).rows[1]) == 3 + 4);
}

void a_chain_carries_its_state() {
  const auto returned = hairspring::chain("returned", std::uint64_t{1},
      [](std::uint64_t x) { return ticks += x, x * 2; }).groups();
  assert(run(only_case(returned), only_case(returned).rows[3]) == 1 + 2 + 4 + 8);
  const auto changed = hairspring::chain("changed", std::uint64_t{1},
      [](std::uint64_t &x) HAIRSPRING_INLINE { ticks += x, x *= 2; }).groups();
  assert(run(only_case(changed), only_case(changed).rows[3]) == 1 + 2 + 4 + 8);
}

void what_is_thrown_is_kept_and_nothing_runs_behind_it() {
  int calls_left = 2;
  const auto groups = hairspring::bench("throws", [&calls_left] {
                        if (calls_left-- == 0) throw std::out_of_range("beyond the end");
                      }).groups();
  const auto &one_case = only_case(groups);
  assert(run(one_case, one_case.rows[1]) == 0);
  assert(run(one_case, one_case.rows[0]) == HAIRSPRING_FAILED &&
      *one_case.failure == "std::out_of_range: beyond the end");
  assert(run(one_case, one_case.rows[0]) == HAIRSPRING_FAILED && calls_left == -1);
  const auto odd = hairspring::bench("odd", [] { ticks += 1; }).setup([] { throw 7; }).groups();
  only_case(odd).setup(context_of(only_case(odd)));
  assert(run(only_case(odd), only_case(odd).rows[0]) == HAIRSPRING_FAILED &&
      !only_case(odd).failure->empty());
  const auto state = hairspring::bench("state", [](int &) {})
      .state([]() -> int { throw std::runtime_error("no state"); }).groups();
  assert(run(only_case(state), only_case(state).rows[0]) == HAIRSPRING_FAILED);
}

void types_and_alternatives_have_their_names() {
  const auto make = [](const std::string &name, auto tag) {
    using Container = typename decltype(tag)::type;
    return hairspring::bench(name, hairspring::called(
        [](Container &container) { container.push_back(1); })).state([] { return Container(); });
  };
  const auto types = hairspring::bench_types<std::vector<int>, std::deque<double>>("push", make);
  assert(types.size() == 2 && types[0].cases()[0].name == "push<std::vector<int>>" &&
      types[1].cases()[0].name == "push<std::deque<double>>");
  const auto compared = hairspring::compare(hairspring::bench("a", [](std::int64_t) {})
      .argument("n", {1, 2}), hairspring::bench("b", [] {}));
  assert(compared.size() == 2 && compared[1].cases().size() == 2);
  assert(compared[1].cases()[1].name == "b/n:2" && compared[1].cases()[1].is_alternative &&
      !compared[1].cases()[0].is_alternative);
}

}  // namespace

int main() {
  every_row_runs_as_often_as_it_says();
  cold_rows_run_too();
  rows_are_printed();
  every_row_has_a_state_of_its_own();
  the_copies_first_run_untimed_on_a_state_that_is_heavy_to_make();
  a_chain_carries_its_state();
  what_is_thrown_is_kept_and_nothing_runs_behind_it();
  types_and_alternatives_have_their_names();
  return 0;
}
