// Ordinary code that people time. It is compiled once, into one object, so that tools are compared
// and not compilers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace work {

// Numbers to sort, in another order each time: states of a linear congruential generator.
struct Numbers {
  std::uint32_t state = 1;
  std::array<std::uint32_t, 100> values{};
  void refill();
};

void sort(std::array<std::uint32_t, 100> &numbers);

// The hash of a byte string by the standard library.
std::size_t hash(std::string_view bytes);

// The sum of a list of numbers, separated by commas; -1 for a list with anything else.
std::int64_t parse(std::string_view list);

void copy(unsigned char *to, const unsigned char *from, std::size_t count);

// Reads a document, counts its items and frees it.
std::size_t json(std::string_view text);

// Bytes to copy and the place for them, in the same distance and at the same place of a page for
// all tools.
struct alignas(4096) Buffers {
  std::array<unsigned char, 1 << 16> from;
  std::array<unsigned char, 2048> gap;
  std::array<unsigned char, 1 << 16> to;
};

// All data of the workloads.
struct Data {
  Numbers numbers;
  std::string kilobyte, list, document;
  std::unique_ptr<Buffers> buffers;
  Data();
};

}  // namespace work
