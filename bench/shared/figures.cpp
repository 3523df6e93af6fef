#include "shared/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pingloom::bench {
namespace {

constexpr int kDigits = 5;

// Five significant digits, without an exponent.
std::string text(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::max(0, kDigits - before_point));
}

}  // namespace

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

void Figures::add(std::string_view name, std::string_view unit, double sample) {
  auto found = std::find_if(figures_.begin(), figures_.end(),
                            [&](const Figure& figure) { return figure.name == name; });
  if (found == figures_.end()) {
    found = figures_.insert(found, {std::string(name), std::string(unit), {}});
  }
  found->samples.push_back(sample);
}

void Figures::print() const {
  for (const Figure& figure : figures_) {
    const auto [least, most] = std::minmax_element(figure.samples.begin(), figure.samples.end());
    std::string samples;
    for (const double sample : figure.samples) {
      samples += (samples.empty() ? "" : " ") + text(sample);
    }
    fmt::print("{:<60}  {:>9} ({} .. {}) {}{}[{}]\n", figure.name, text(medianOf(figure.samples)),
               text(*least), text(*most), figure.unit, figure.unit.empty() ? "" : " ", samples);
  }
  std::fflush(stdout);
}

}  // namespace pingloom::bench
