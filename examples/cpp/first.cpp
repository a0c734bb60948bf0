#include "hairspring.hpp"

HAIRSPRING_ADD(hairspring::chain("multiply", std::uint64_t{3}, [](std::uint64_t x) {
  return x * 6364136223846793005u;
}));

HAIRSPRING_MAIN_CPP
