#include "collector/summary_values.h"

#include <bit>
#include <cmath>
#include <limits>

#include "pages/registration.h"

namespace pingloom::collector {

MetricSummary summaryOf(const pages::Metric& metric, std::span<const std::uint64_t> slots) {
  MetricSummary summary{slots[0], std::bit_cast<double>(slots[1])};
  summary.quantiles.reserve(metric.quantiles.size());
  for (std::size_t i = 0; i < metric.quantiles.size(); ++i) {
    const double value = summary.count == 0
                             ? std::numeric_limits<double>::quiet_NaN()
                             : std::bit_cast<double>(slots[pages::kSummarySlots + i]);
    summary.quantiles.push_back({metric.quantiles[i], value});
  }
  return summary;
}

std::optional<double> valueAt(const MetricSummary& summary, double rank) {
  for (const auto& [known, value] : summary.quantiles) {
    if (known == rank && std::isfinite(value)) return value;
  }
  return std::nullopt;
}

}  // namespace pingloom::collector
