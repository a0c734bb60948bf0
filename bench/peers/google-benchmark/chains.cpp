// The truth table as Google Benchmark's users write it: range-for over State, DoNotOptimize,
// PauseTiming.
#include <benchmark/benchmark.h>

#include "../../languages/work.h"
#include "../chains.hpp"

namespace {

template <chains::Chain chain>
void repeat(benchmark::State& state) {
  std::uint64_t x = chains::kSeed;
  for (auto _ : state) {
    x = chain(x);
    benchmark::DoNotOptimize(x);
  }
}

void body_30_init_120(benchmark::State& state) {
  std::uint64_t x = chains::kSeed;
  for (auto _ : state) {
    state.PauseTiming();
    x = chains::init_120(x);
    benchmark::DoNotOptimize(x);
    state.ResumeTiming();
    x = chains::chain_30(x);
    benchmark::DoNotOptimize(x);
  }
}

void call_empty(benchmark::State& state) {
  for (auto _ : state) work_nothing();
}

void call_chain_300(benchmark::State& state) {
  for (auto _ : state) work_chain_300();
}

template <void (*sort)()>
void refilled(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    work_fill();
    state.ResumeTiming();
    sort();
  }
}

BENCHMARK(repeat<chains::anchor>)->Name("anchor_first");
BENCHMARK(repeat<chains::chain_1>)->Name("chain_1");
BENCHMARK(repeat<chains::chain_3>)->Name("chain_3");
BENCHMARK(repeat<chains::chain_4>)->Name("chain_4");
BENCHMARK(repeat<chains::chain_5>)->Name("chain_5");
BENCHMARK(repeat<chains::chain_30>)->Name("chain_30");
BENCHMARK(body_30_init_120);
BENCHMARK(call_empty);
BENCHMARK(call_chain_300);
BENCHMARK(refilled<work_sort>)->Name("sort_16");
BENCHMARK(refilled<work_network>)->Name("network_16");
BENCHMARK(repeat<chains::anchor>)->Name("anchor_last");

}  // namespace

BENCHMARK_MAIN();
