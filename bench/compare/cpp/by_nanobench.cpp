// nanobench: Bench().run with a lambda, doNotOptimizeAway. It has no init: the sort includes making
// the numbers.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>

#include <iostream>

#include "work.hpp"

int main() {
  using ankerl::nanobench::doNotOptimizeAway;
  work::Data data;
  ankerl::nanobench::Bench bench;
  bench.output(nullptr);
  bench.run("sort_100", [&] {
    data.numbers.refill();
    work::sort(data.numbers.values);
    doNotOptimizeAway(data.numbers.values);
  });
  bench.run("hash_1k", [&] { doNotOptimizeAway(work::hash(data.kilobyte)); });
  bench.run("parse_list", [&] { doNotOptimizeAway(work::parse(data.list)); });
  bench.run("memcpy_4k", [&] {
    work::copy(data.buffers->to.data(), data.buffers->from.data(), 4096);
    doNotOptimizeAway(data.buffers->to.data());
  });
  bench.run("memcpy_64k", [&] {
    work::copy(data.buffers->to.data(), data.buffers->from.data(), 65536);
    doNotOptimizeAway(data.buffers->to.data());
  });
  bench.run("json_500", [&] { doNotOptimizeAway(work::json(data.document)); });
  ankerl::nanobench::render(ankerl::nanobench::templates::json(), bench, std::cout);
}
