#include "collector/analytics/rate_tracker.h"

#include <bit>
#include <limits>
#include <utility>

namespace pingloom::collector::analytics {

namespace {

double growth(SlotKind kind, std::uint64_t now, std::uint64_t before) {
  if (kind == SlotKind::kCounter) return static_cast<double>(now - before);
  return std::bit_cast<double>(now) - std::bit_cast<double>(before);
}

bool isLower(SlotKind kind, std::uint64_t now, std::uint64_t before) {
  if (kind == SlotKind::kCounter) return now < before;
  return std::bit_cast<double>(now) < std::bit_cast<double>(before);
}

}  // namespace

RateTracker::RateTracker(std::vector<SlotKind> kinds)
    : kinds_(std::move(kinds)), last_(kinds_.size()) {}

void RateTracker::update(Nanos read_mono, std::span<const std::uint64_t> slots,
                         std::span<double> sample) {
  const bool later = last_mono_ && read_mono > *last_mono_;
  const double seconds = later ? static_cast<double>(read_mono - *last_mono_) / kSecond : 0;
  const bool remember = later || !last_mono_;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] == SlotKind::kGauge) {
      sample[i] = std::bit_cast<double>(slots[i]);
      continue;
    }
    const bool fell =
        later && kinds_[i] != SlotKind::kSum && isLower(kinds_[i], slots[i], last_[i]);
    if (fell) ++resets_;
    sample[i] = later && !fell ? growth(kinds_[i], slots[i], last_[i]) / seconds
                               : std::numeric_limits<double>::quiet_NaN();
    if (remember) last_[i] = slots[i];
  }
  if (remember) last_mono_ = read_mono;
}

}  // namespace pingloom::collector::analytics
