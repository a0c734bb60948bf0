/* The vectors that every language must pass: spec/vectors, from the project's root. */
#include "hairspring.hpp"

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

const std::string folder = "spec/vectors/";

/* A line of expected.csv. */
struct Expected {
  std::string file, series, component, unit;
  double level = 0, value = 0, low = 0, high = 0;
  bool below = false;
};

Expected parsed(const std::string &line) {
  std::istringstream text(line);
  const auto field = [&text, &line] {
    std::string value;
    if (!std::getline(text, value, ',')) throw std::runtime_error("a field is missing in " + line);
    return value;
  };
  const auto number = [&field] { return std::stod(field()); };
  Expected expected;
  expected.file = field(), expected.level = number();
  expected.series = field(), expected.component = field(), expected.unit = field();
  expected.value = number(), expected.low = number(), expected.high = number();
  expected.below = number() > 0.5;
  return expected;
}

void check(hairspring_status status, const std::string &place) {
  if (status == HAIRSPRING_STATUS_OK) return;
  std::array<char, 400> text{};
  hairspring_last_error(text.data(), text.size());
  throw std::runtime_error(place + ": " + text.data());
}

/* The engine's result for a file. */
class Solved {
 public:
  explicit Solved(const std::string &file) {
    check(hairspring_observations_read_csv((folder + file).c_str(), &table_), file);
    check(hairspring_assess(table_, nullptr, &assessment_), file);
    std::size_t count = 0;
    check(hairspring_assessment_components(assessment_, components_.data(), sizeof components_[0],
        components_.size(), &count), file);
    if (count > components_.size()) throw std::runtime_error(file + ": too many components");
    count_ = count;
  }
  Solved(const Solved &) = delete;
  Solved &operator=(const Solved &) = delete;
  ~Solved() {
    hairspring_assessment_free(assessment_);
    hairspring_observations_free(table_);
  }
  const hairspring_component *find(const Expected &line) const {
    for (std::size_t at = 0; at < count_; at += 1) {
      if (components_[at].series == line.series && components_[at].name == line.component)
        return &components_[at];
    }
    return nullptr;
  }

 private:
  hairspring_observations *table_ = nullptr;
  hairspring_assessment *assessment_ = nullptr;
  std::array<hairspring_component, 16> components_{};
  std::size_t count_ = 0;
};

bool close_to(double value, double expected) {
  return std::fabs(value - expected) <= 1e-9 * std::fmax(std::fabs(expected), 1e-3);
}

bool passes(const Expected &line) {
  const Solved solved(line.file);
  const hairspring_component *const component = solved.find(line);
  if (component == nullptr) return false;
  const hairspring_estimate &estimate = line.unit == "ns" ? component->ns : line.unit == "cycles"
      ? component->cycles : component->ticks;
  return close_to(estimate.level, line.level) && close_to(estimate.value, line.value) &&
      close_to(estimate.low, line.low) &&
         close_to(estimate.high, line.high) && (component->below_resolution != 0) == line.below;
}

}  // namespace

int main() {
  std::ifstream file(folder + "expected.csv");
  std::string line;
  unsigned checked_lines = 0;
  std::getline(file, line);
  for (; std::getline(file, line); checked_lines += 1) {
    if (passes(parsed(line))) continue;
    std::cerr << "not found: " << line << '\n';
    return 1;
  }
  if (checked_lines > 12) return 0;
  std::cerr << checked_lines << " lines\n";
  return 1;
}
