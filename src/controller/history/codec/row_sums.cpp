#include "controller/history/codec/row_sums.h"

#include <cmath>
#include <limits>

namespace pingloom::controller {

void addSaturating(std::uint32_t& sum, std::uint32_t more) {
  sum = sum > std::numeric_limits<std::uint32_t>::max() - more
            ? std::numeric_limits<std::uint32_t>::max()
            : sum + more;
}

void addCounts(const Row& from, Row& into) {
  for (const auto count : kRowCounts) addSaturating(into.*count, from.*count);
  for (std::size_t i = 0; i < kAnomalies; ++i) addSaturating(into.anomalous[i], from.anomalous[i]);
}

void MeanJitter::add(const Row& row) {
  if (!row.jitter_ns) return;
  sum_ += static_cast<double>(*row.jitter_ns) * row.received;
  received_ += row.received;
}

std::optional<std::uint64_t> MeanJitter::value() const {
  if (received_ == 0) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(sum_ / static_cast<double>(received_)));
}

}  // namespace pingloom::controller
