/* Chains of known length, an init that is separated from its body, and empty code.
 *
 *   c++ -O2 chains.cpp $(pkg-config --cflags --libs hairspring) -o chains && ./chains */
#include "hairspring.hpp"

namespace {

/* The compiler cannot make this product with shifts or addresses, so it is a multiplication. */
constexpr std::uint64_t factor = 6364136223846793005u;

/* Dependent multiplications. */
template <int links>
HAIRSPRING_INLINE inline void multiply(std::uint64_t &x) {
  if constexpr (links > 0) {
    x *= factor;
    hairspring::opaque(x);
    multiply<links - 1>(x);
  }
}

const auto behind_four = [](std::uint64_t &x) HAIRSPRING_INLINE { multiply<4>(x); };

}  // namespace

HAIRSPRING_ADD(hairspring::chain("multiply", std::uint64_t{3},
    [](std::uint64_t x) { return x * factor; }));
HAIRSPRING_ADD(hairspring::chain("multiply double", 1.5, [](double &x) { x *= 1.0000001; }));
HAIRSPRING_ADD(hairspring::chain("ten behind four", std::uint64_t{3},
    [](std::uint64_t &x) HAIRSPRING_INLINE { multiply<10>(x); })
                   .init(behind_four));
HAIRSPRING_BENCH("multiply, throughput", [](std::uint64_t x) { return x * factor; })
    .state([] { return std::uint64_t{3}; });
HAIRSPRING_BENCH("nothing", [] {});

HAIRSPRING_MAIN_CPP
