// The truth table as Catch2's users write it: BENCHMARK with a returned value, BENCHMARK_ADVANCED
// for the init.
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>

#include <vector>

#include "../chains.hpp"

TEST_CASE("chains") {
  std::uint64_t x = chains::kSeed;

  BENCHMARK("anchor_first") { return x = chains::anchor(x); };
  BENCHMARK("chain_1") { return x = chains::chain_1(x); };
  BENCHMARK("chain_3") { return x = chains::chain_3(x); };
  BENCHMARK("chain_4") { return x = chains::chain_4(x); };
  BENCHMARK("chain_5") { return x = chains::chain_5(x); };
  BENCHMARK("chain_30") { return x = chains::chain_30(x); };

  // Nothing can run untimed between two runs of a sample: the documented way is one prepared state
  // for each run.
  BENCHMARK_ADVANCED("body_30_init_120")(Catch::Benchmark::Chronometer meter) {
    std::vector<std::uint64_t> states(static_cast<std::size_t>(meter.runs()));
    for (auto& state : states) state = x = chains::init_120(x);
    meter.measure([&](int run) { return chains::chain_30(states[static_cast<std::size_t>(run)]); });
  };

  BENCHMARK("anchor_last") { return x = chains::anchor(x); };
}
