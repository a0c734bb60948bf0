// The truth table as nanobench's users write it: Bench().run with a lambda, doNotOptimizeAway.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>

#include <cstring>
#include <iostream>

#include "../../languages/work.h"
#include "../chains.hpp"

namespace {

using ankerl::nanobench::Bench;
using ankerl::nanobench::doNotOptimizeAway;

template <chains::Chain chain>
void repeat(Bench& bench, const char* name) {
  std::uint64_t x = chains::kSeed;
  bench.run(name, [&] {
    x = chain(x);
    doNotOptimizeAway(x);
  });
}

// This release has no place for an init: what its users do is to time it with the body.
void body_30_init_120(Bench& bench) {
  std::uint64_t x = chains::kSeed;
  bench.run("body_30_init_120", [&] {
    x = chains::init_120(x);
    x = chains::chain_30(x);
    doNotOptimizeAway(x);
  });
}

void calls(Bench& bench) {
  bench.run("call_empty", work_nothing);
  bench.run("call_chain_300", work_chain_300);
  bench.run("sort_16", [] {
    work_fill();
    work_sort();
  });
  bench.run("network_16", [] {
    work_fill();
    work_network();
  });
}

}  // namespace

int main(int count, char** arguments) {
  Bench bench;
  bench.output(nullptr);
  repeat<chains::anchor>(bench, "anchor_first");
  repeat<chains::chain_1>(bench, "chain_1");
  repeat<chains::chain_3>(bench, "chain_3");
  repeat<chains::chain_4>(bench, "chain_4");
  repeat<chains::chain_5>(bench, "chain_5");
  repeat<chains::chain_30>(bench, "chain_30");
  body_30_init_120(bench);
  if (count < 2 || std::strcmp(arguments[1], "chains") != 0) calls(bench);
  repeat<chains::anchor>(bench, "anchor_last");
  ankerl::nanobench::render(ankerl::nanobench::templates::json(), bench, std::cout);
}
