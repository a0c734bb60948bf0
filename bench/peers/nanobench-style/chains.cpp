// The truth table by a loop in nanobench's style: the clock, a loop of n copies, the clock; n fills a thousand quanta of the
// clock, the time is divided by n, and the median of 51 such epochs is the answer. Nothing is subtracted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "../../languages/work.h"
#include "../chains.hpp"

namespace {

using Clock = std::chrono::steady_clock;

template <class Code>
double ns_of(Code code, std::uint64_t copies) {
  const auto begin = Clock::now();
  for (std::uint64_t n = copies; n > 0; n -= 1) code();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

template <class Code>
void bench(const char* name, Code code) {
  constexpr double epoch_ns = 1e6;
  constexpr std::size_t epochs = 51;
  std::uint64_t copies = 1;
  while (ns_of(code, copies) < epoch_ns) copies *= 2;
  std::vector<double> times;
  for (std::size_t epoch = 0; epoch < epochs; epoch += 1) times.push_back(ns_of(code, copies) / static_cast<double>(copies));
  std::nth_element(times.begin(), times.begin() + epochs / 2, times.end());
  std::printf("nanobench-style,%s,%.6g,,,median of %zu epochs of %llu\n", name, times[epochs / 2], epochs,
              static_cast<unsigned long long>(copies));
}

template <class Value>
void keep(Value& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

template <chains::Chain chain>
void repeat(const char* name) {
  bench(name, [x = chains::kSeed]() mutable {
    x = chain(x);
    keep(x);
  });
}

}  // namespace

int main() {
  std::puts("tool,case,time_ns,low_ns,high_ns,note");
  repeat<chains::anchor>("anchor_first");
  repeat<chains::chain_1>("chain_1");
  repeat<chains::chain_3>("chain_3");
  repeat<chains::chain_30>("chain_30");
  // Such a loop has no place for an init: what its users do is to time it with the body.
  bench("body_30_init_120", [x = chains::kSeed]() mutable {
    x = chains::init_120(x);
    x = chains::chain_30(x);
    keep(x);
  });
  bench("call_empty", work_nothing);
  bench("call_chain_300", work_chain_300);
  bench("sort_16", [] {
    work_fill();
    work_sort();
  });
  bench("network_16", [] {
    work_fill();
    work_network();
  });
  repeat<chains::anchor>("anchor_last");
}
