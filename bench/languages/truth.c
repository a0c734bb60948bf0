/* The truth table in C. */
#include "chains.h"
#include "hairspring.h"
#include "work.h"

#define STATE (uint64_t x = 0x0123456789abcdef, c = 0x9e3779b97f4a7c15)

HAIRSPRING_BENCHMARK(chain_1, STATE, CHAIN_1(x, c));
HAIRSPRING_BENCHMARK(chain_3, STATE, CHAIN_3(x, c));
HAIRSPRING_BENCHMARK(chain_30, STATE, CHAIN_30(x, c));
HAIRSPRING_BENCHMARK_INIT(body_30_init_120, STATE, (CHAIN_120(x, c)), CHAIN_30(x, c));
HAIRSPRING_BENCHMARK(call_empty, (), work_nothing());
HAIRSPRING_BENCHMARK(call_chain_300, (), work_chain_300());
HAIRSPRING_BENCHMARK_INIT(sort_16, (), (work_fill()), work_sort());
HAIRSPRING_BENCHMARK_INIT(network_16, (), (work_fill()), work_network());

int main(int argc, char **argv) {
  static const struct hairspring_entry all[] = {
      {.benchmark = &chain_1},        {.benchmark = &chain_3},    {.benchmark = &chain_30},
      {.benchmark = &body_30_init_120}, {.benchmark = &call_empty}, {.benchmark = &call_chain_300},
      {.benchmark = &sort_16},        {.benchmark = &network_16},
  };
  return hairspring_main(argc, argv, all, sizeof all / sizeof all[0]);
}
