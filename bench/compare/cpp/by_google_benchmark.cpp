// Google Benchmark: range-for over State, DoNotOptimize and ClobberMemory, PauseTiming for what
// must be made anew.
#include <benchmark/benchmark.h>

#include "work.hpp"

namespace {

void sort_100(benchmark::State &state) {
  work::Numbers numbers;
  for (auto _ : state) {
    state.PauseTiming();
    numbers.refill();
    state.ResumeTiming();
    work::sort(numbers.values);
    benchmark::ClobberMemory();
  }
}

void hash_1k(benchmark::State &state) {
  const work::Data data;
  for (auto _ : state) benchmark::DoNotOptimize(work::hash(data.kilobyte));
}

void parse_list(benchmark::State &state) {
  const work::Data data;
  for (auto _ : state) benchmark::DoNotOptimize(work::parse(data.list));
}

template <std::size_t count>
void copied(benchmark::State &state) {
  work::Data data;
  for (auto _ : state) {
    work::copy(data.buffers->to.data(), data.buffers->from.data(), count);
    benchmark::ClobberMemory();
  }
}

void json_500(benchmark::State &state) {
  const work::Data data;
  for (auto _ : state) benchmark::DoNotOptimize(work::json(data.document));
}

BENCHMARK(sort_100);
BENCHMARK(hash_1k);
BENCHMARK(parse_list);
BENCHMARK(copied<4096>)->Name("memcpy_4k");
BENCHMARK(copied<65536>)->Name("memcpy_64k");
BENCHMARK(json_500);

}  // namespace

BENCHMARK_MAIN();
