// Catch2: BENCHMARK with a returned value, BENCHMARK_ADVANCED with one set of numbers for each run.
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>

#include <vector>

#include "work.hpp"

TEST_CASE("table") {
  work::Data data;
  BENCHMARK_ADVANCED("sort_100")(Catch::Benchmark::Chronometer meter) {
    std::vector<work::Numbers> made(static_cast<std::size_t>(meter.runs()));
    for (auto &numbers : made) {
      data.numbers.refill();
      numbers = data.numbers;
    }
    meter.measure([&](int run) { work::sort(made[static_cast<std::size_t>(run)].values); });
  };
  BENCHMARK("hash_1k") { return work::hash(data.kilobyte); };
  BENCHMARK("parse_list") { return work::parse(data.list); };
  BENCHMARK("memcpy_4k") {
    return work::copy(data.buffers->to.data(), data.buffers->from.data(), 4096);
  };
  BENCHMARK("memcpy_64k") {
    return work::copy(data.buffers->to.data(), data.buffers->from.data(), 65536);
  };
  BENCHMARK("json_500") { return work::json(data.document); };
}
