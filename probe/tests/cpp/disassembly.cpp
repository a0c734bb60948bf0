// The code that disassembly_cpp.py checks. Every function tests one property of hairspring.hpp.
#include "hairspring.hpp"

/* A type that can be neither copied nor moved. */
struct Object {
  Object() = default;
  Object(const Object &) = delete;
  std::uint64_t words[4];
};
struct Empty {};
enum class Colour : std::uint8_t { red };

extern "C" {
void keep_integer(std::uint64_t x) { hairspring::keep(x); }
void keep_bool(bool x) { hairspring::keep(x); }
void keep_enum(Colour x) { hairspring::keep(x); }
void keep_pointer(const Object *x) { hairspring::keep(x); }
void keep_float(float x) { hairspring::keep(x); }
void keep_double(double x) { hairspring::keep(x); }
void keep_object(const Object &x) { hairspring::keep(x); }
void keep_empty(const Empty &x) { hairspring::keep(x); }
void opaque_object(Object &x) { hairspring::opaque(x); }
std::uint64_t opaque_integer(std::uint64_t x) {
  hairspring::opaque(x);
  return x;
}
double opaque_double(double x) {
  hairspring::opaque(x);
  return x;
}
/* Both halves stay in registers. */
std::uint64_t opaque_pair(std::uint64_t x, std::uint64_t y) {
  std::pair<std::uint64_t, std::uint64_t> both(x, y);
  hairspring::opaque(both);
  return both.first * both.second;
}
/* The object is unknown, so the product is unknown too. */
std::uint64_t opaque_array() {
  std::uint64_t words[2] = {3, 5};
  hairspring::opaque(words);
  return words[0] * words[1];
}
}

/* Rows: multiplications between the two reads of the clock, without a call or a jump. */
constexpr std::uint64_t factor = 6364136223846793005u;
HAIRSPRING_ADD(hairspring::chain("latency", std::uint64_t{3},
    [](std::uint64_t x) { return x * factor; }));
HAIRSPRING_ADD(hairspring::chain("by reference", std::uint64_t{3},
    [c = factor](std::uint64_t &x) HAIRSPRING_INLINE { x *= c; })
                   .init([](std::uint64_t &x) HAIRSPRING_INLINE { x *= factor; }));
HAIRSPRING_BENCH("throughput", [](std::uint64_t x) { return x * factor; })
    .state([] { return std::uint64_t{3}; });
