#include "work.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

namespace work {

void Numbers::refill() {
  for (auto &value : values) value = (state = state * 1664525u + 1013904223u) >> 8;
}

void sort(std::array<std::uint32_t, 100> &numbers) { std::sort(numbers.begin(), numbers.end()); }

std::size_t hash(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }

std::int64_t parse(std::string_view list) {
  std::int64_t sum = 0;
  const char *at = list.data();
  const char *const end = at + list.size();
  while (at < end) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || (next < end && *next != ',')) return -1;
    sum += number;
    at = next + 1;
  }
  return sum;
}

void copy(unsigned char *to, const unsigned char *from, std::size_t count) {
  std::memcpy(to, from, count);
}

std::size_t json(std::string_view text) { return nlohmann::json::parse(text)["items"].size(); }

namespace {

std::string bytes(std::size_t count) {
  std::string made(count, '\0');
  for (std::size_t at = 0; at < count; at += 1) made[at] = static_cast<char>(at * 31 % 251);
  return made;
}

std::string listed() {
  std::string made;
  for (int at = 0; at < 40; at += 1)
    made += (at ? "," : "") + std::to_string(at * 7919 % 10000 + 1000);
  return made;
}

// The document is in the file that COMPARE_DOCUMENT names.
std::string document() {
  const char *const path = std::getenv("COMPARE_DOCUMENT");
  std::ifstream file(path ? path : "document.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Data::Data() : kilobyte(bytes(1024)), list(listed()), document(work::document()),
    buffers(std::make_unique<Buffers>()) {
  const std::string made = bytes(buffers->from.size());
  std::copy(made.begin(), made.end(), buffers->from.begin());
}

}  // namespace work
