/* The truth table in C++. */
#include "chains.h"
#include "hairspring.hpp"
#include "work.h"

namespace {

constexpr std::uint64_t seed = 0x0123456789abcdef, odd = 0x9e3779b97f4a7c15;
const auto body_30 = [](std::uint64_t &x) HAIRSPRING_INLINE { CHAIN_30(x, odd); };

}  // namespace

HAIRSPRING_ADD(hairspring::chain("chain_1", seed,
    [](std::uint64_t &x) HAIRSPRING_INLINE { CHAIN_1(x, odd); }));
HAIRSPRING_ADD(hairspring::chain("chain_3", seed,
    [](std::uint64_t &x) HAIRSPRING_INLINE { CHAIN_3(x, odd); }));
HAIRSPRING_ADD(hairspring::chain("chain_30", seed, body_30));
HAIRSPRING_ADD(hairspring::chain("body_30_init_120", seed, body_30)
    .init([](std::uint64_t &x) HAIRSPRING_INLINE { CHAIN_120(x, odd); }));
HAIRSPRING_BENCH("call_empty", [] { work_nothing(); });
HAIRSPRING_BENCH("call_chain_300", [] { work_chain_300(); });
HAIRSPRING_BENCH("sort_16", [] { work_sort(); }).init([] { work_fill(); });
HAIRSPRING_BENCH("network_16", [] { work_network(); }).init([] { work_fill(); });

HAIRSPRING_MAIN_CPP
