#include "controller/verdict/flow_baseline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pingloom::controller {
namespace {

// While a flow is usual, its baseline follows it within some minutes; while it is not, within an
// hour and more, because a fault must not become what is usual.
constexpr double kFollow = 1.0 / 32;
constexpr double kDrift = 1.0 / 1024;
constexpr double kDeviations = 4;
constexpr double kLeastShare = 0.05;  // of the usual value

// The smallest of ten samples lies 1.54 standard deviations below the median, and the median
// deviation is 0.67 of one.
constexpr double kDeviationOfGap = 0.67 / 1.54;

// Values, and the share of the samples above each.
using Quantiles = std::array<std::pair<double, double>, 5>;

Quantiles quantilesOf(const Summary& summary) {
  return {{{static_cast<double>(summary.min), 1.0},
           {static_cast<double>(summary.p50), 0.5},
           {static_cast<double>(summary.p95), 0.05},
           {static_cast<double>(summary.p99), 0.01},
           {static_cast<double>(summary.max), 0.0}}};
}

}  // namespace

std::uint32_t countAbove(const Summary& summary, double value) {
  const Quantiles known = quantilesOf(summary);
  if (value < known.front().first) return static_cast<std::uint32_t>(summary.count);
  double share = 0;
  for (std::size_t i = 1; i < known.size(); ++i) {
    const auto [low, above_low] = known[i - 1];
    const auto [high, above_high] = known[i];
    if (value >= high) continue;
    share = above_high + (above_low - above_high) * (high - value) / (high - low);
    break;
  }
  return static_cast<std::uint32_t>(std::lround(share * static_cast<double>(summary.count)));
}

double valueBelow(const Summary& summary, double share) {
  const Quantiles known = quantilesOf(summary);
  for (std::size_t i = 1; i < known.size(); ++i) {
    const auto [low, above_low] = known[i - 1];
    const auto [high, above_high] = known[i];
    if (share < above_high) continue;
    return high - (high - low) * (share - above_high) / (above_low - above_high);
  }
  return known.back().first;
}

void FlowBaseline::learn(const Summary& network, double weight) {
  const auto median = static_cast<float>(network.p50);
  const auto gap =
      static_cast<float>(kDeviationOfGap * static_cast<double>(network.p50 - network.min));
  const auto part = static_cast<float>(weight);
  usual_ += (median - usual_) * part;
  deviation_ += (gap - deviation_) * part;
}

void FlowBaseline::take(std::uint64_t window, const Summary& network) {
  if (window == window_ || network.count == 0) return;
  window_ = window;
  newest_ = {static_cast<std::uint32_t>(network.count), 0, 0};
  if (learned_ < kLearned) {
    ++learned_;
    learn(network, 1.0 / learned_);
    return;
  }
  const double usual = usual_;
  const double margin = std::max({kDeviations * deviation_, kLeastExcess, kLeastShare * usual});
  newest_.above = countAbove(network, usual + margin);
  const double share = static_cast<double>(newest_.above) / newest_.samples;
  newest_.excess_ns = valueBelow(network, share > 0 ? share / 2 : 0.5) - usual;
  learn(network, 2 * newest_.above < newest_.samples ? kFollow : kDrift);
}

}  // namespace pingloom::controller
