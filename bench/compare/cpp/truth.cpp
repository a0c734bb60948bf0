// Loops of each workload, timed by two clocks: the truth is made of their differences
// (bench/suite/compare_truth.py).
//
// `truth MICROSECONDS ROUNDS` prints one line for each loop: case, round, form, passes, ns by the
// wall clock, ns by the clock of the thread. `truth count CASE FORM PASSES` runs one loop, for
// counters of the hardware. rust/benches/truth.rs is the same.
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "work.hpp"

namespace {

using work::Data;
using Run = void (*)(int form, std::uint64_t passes, Data &data);

// `body`: one body in a pass; `body2`: two. `base` and `base2`: the same without the body.
constexpr std::array<const char *, 4> forms = {"body", "body2", "base", "base2"};

template <class Type>
void keep(const Type &value) {
  asm volatile("" : : "r"(value) : "memory");
}

const auto nothing = [](Data &) {};

template <int form, class Init, class Body>
void loop(std::uint64_t passes, Data &data, Init init, Body body) {
  const auto once = [&]() __attribute__((always_inline)) {
    init(data);
    if (form < 2) body(data);
    asm volatile("" : : : "memory");
  };
  for (std::uint64_t left = passes; left > 0; left -= 1) {
    once();
    if (form % 2 == 1) once();
  }
}

template <class Init, class Body>
void run(int form, std::uint64_t passes, Data &data, Init init, Body body) {
  switch (form) {
    case 0: return loop<0>(passes, data, init, body);
    case 1: return loop<1>(passes, data, init, body);
    case 2: return loop<2>(passes, data, init, body);
    default: return loop<3>(passes, data, init, body);
  }
}

const std::array<std::pair<const char *, Run>, 6> cases = {{
    {"sort_100", [](int form, std::uint64_t passes, Data &data) {
       run(form, passes, data, [](Data &d) { d.numbers.refill(); },
           [](Data &d) { work::sort(d.numbers.values); });
     }},
    {"hash_1k", [](int form, std::uint64_t passes, Data &data) {
       run(form, passes, data, nothing, [](Data &d) { keep(work::hash(d.kilobyte)); });
     }},
    {"parse_list", [](int form, std::uint64_t passes, Data &data) {
       run(form, passes, data, nothing, [](Data &d) { keep(work::parse(d.list)); });
     }},
    {"memcpy_4k", [](int form, std::uint64_t passes, Data &data) {
       run(form, passes, data, nothing,
           [](Data &d) { work::copy(d.buffers->to.data(), d.buffers->from.data(), 4096); });
     }},
    {"memcpy_64k", [](int form, std::uint64_t passes, Data &data) {
       run(form, passes, data, nothing,
           [](Data &d) { work::copy(d.buffers->to.data(), d.buffers->from.data(), 65536); });
     }},
    {"json_500", [](int form, std::uint64_t passes, Data &data) {
       run(form, passes, data, nothing, [](Data &d) { keep(work::json(d.document)); });
     }},
}};

std::int64_t now(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) std::abort();
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

struct Times {
  std::int64_t wall, thread;
};

Times timed(Run run, int form, std::uint64_t passes, Data &data) {
  const std::int64_t wall = now(CLOCK_MONOTONIC), thread = now(CLOCK_THREAD_CPUTIME_ID);
  run(form, passes, data);
  const std::int64_t ran = now(CLOCK_THREAD_CPUTIME_ID) - thread;
  return {now(CLOCK_MONOTONIC) - wall, ran};
}

// Passes that take about so long.
std::uint64_t enough(Run run, std::int64_t micros, Data &data) {
  std::uint64_t passes = 1;
  while (timed(run, 0, passes, data).wall < micros * 1000) passes *= 2;
  std::int64_t least = timed(run, 0, passes, data).wall;
  for (int more = 0; more < 4; more += 1) least = std::min(least, timed(run, 0, passes, data).wall);
  const std::uint64_t found = passes * static_cast<std::uint64_t>(micros) * 1000 /
      static_cast<std::uint64_t>(std::max<std::int64_t>(least, 1));
  return std::max<std::uint64_t>(found, 1);
}

// All loops of a case, in another order in each round.
void measure(const char *name, Run run, std::int64_t micros, int rounds, Data &data) {
  const std::uint64_t shortest = enough(run, micros, data);
  std::vector<std::pair<int, std::uint64_t>> loops = {{1, shortest}, {3, shortest}};
  for (const std::uint64_t times : {1, 2, 4, 8}) {
    loops.emplace_back(0, times * shortest);
    loops.emplace_back(2, times * shortest);
  }
  std::uint64_t state = 1;
  for (int round = 0; round < rounds; round += 1) {
    for (std::size_t at = loops.size() - 1; at > 0; at -= 1) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(loops[at], loops[(state >> 33) % (at + 1)]);
    }
    for (const auto &[form, passes] : loops) {
      const Times times = timed(run, form, passes, data);
      std::printf("%s,%d,%s,%llu,%lld,%lld\n", name, round, forms[static_cast<std::size_t>(form)],
                  static_cast<unsigned long long>(passes), static_cast<long long>(times.wall),
                  static_cast<long long>(times.thread));
    }
  }
}

int count(std::string_view name, std::string_view form, std::uint64_t passes, Data &data) {
  for (const auto &[known, run] : cases) {
    for (std::size_t at = 0; at < forms.size(); at += 1) {
      if (name == known && form == forms[at]) return run(static_cast<int>(at), passes, data), 0;
    }
  }
  return 2;
}

}  // namespace

int main(int given, char **words) {
  Data data;
  if (given == 5) return count(words[2], words[3], std::strtoull(words[4], nullptr, 10), data);
  if (given != 3) return 2;
  std::puts("case,round,form,passes,wall_ns,thread_ns");
  for (const auto &[name, run] : cases)
    measure(name, run, std::atol(words[1]), std::atoi(words[2]), data);
}
