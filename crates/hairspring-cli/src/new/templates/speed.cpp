// Benchmarks. Each copy of a chain takes the result of the copy before it, so its time is the
// latency; the copies of HAIRSPRING_BENCH are independent. Put your own code in their places.
#include "hairspring.hpp"

#include <cstdint>
#include <cstring>

namespace {
char from[4096], to[4096];
}

HAIRSPRING_ADD(hairspring::chain("multiply", std::uint64_t{3}, [](std::uint64_t x) {
  return x * 6364136223846793005u;
}));

HAIRSPRING_BENCH("copy", [](std::int64_t size) {
  std::memcpy(to, from, static_cast<std::size_t>(size));
}).argument("size", {64, 4096});

HAIRSPRING_MAIN_CPP
