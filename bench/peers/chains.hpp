// The truth table in C++: dependent chains whose length in core cycles is known (xor 1, imul 3).
// chains.rs holds the same instructions for Rust; keep the two alike.
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#error "these chains are x86-64 instructions"
#endif

namespace chains {

using Chain = std::uint64_t (*)(std::uint64_t);

constexpr std::uint64_t kSeed = 0x0123456789abcdef;
// never the same register as x: `xor r,r` would be a zero idiom
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;

#define HS_CHAIN(name, text)                                      \
  inline std::uint64_t name(std::uint64_t x) {                    \
    asm volatile(text : [x] "+r"(x) : [y] "r"(kOdd) : "cc");      \
    return x;                                                     \
  }

HS_CHAIN(chain_1, "xorq %[y], %[x]")
HS_CHAIN(chain_3, "imulq %[y], %[x]")
HS_CHAIN(chain_4, "xorq %[y], %[x]\n imulq %[y], %[x]")
HS_CHAIN(chain_5, "xorq %[y], %[x]\n imulq %[y], %[x]\n xorq %[y], %[x]")
HS_CHAIN(chain_30, ".rept 10\n imulq %[y], %[x]\n .endr")
HS_CHAIN(init_120, ".rept 40\n imulq %[y], %[x]\n .endr")

#undef HS_CHAIN

// 10,000 imul, 30,000 cycles: so long that no tool's overhead shows. It gives the tool's own time
// per cycle.
inline std::uint64_t anchor(std::uint64_t x) {
  std::uint64_t n;
  asm volatile(
      "movl $10, %k[n]\n"
      "2:\n .rept 1000\n imulq %[y], %[x]\n .endr\n"
      "decl %k[n]\n jnz 2b"
      : [x] "+r"(x), [n] "=&r"(n)
      : [y] "r"(kOdd)
      : "cc");
  return x;
}

}  // namespace chains
