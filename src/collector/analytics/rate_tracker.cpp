#include "collector/analytics/rate_tracker.h"

#include <bit>
#include <limits>
#include <utility>

namespace pingloom::collector::analytics {

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
    sample[i] = std::numeric_limits<double>::quiet_NaN();
    if (kinds_[i] == SlotKind::kSum) {
      if (later)
        sample[i] = (std::bit_cast<double>(slots[i]) - std::bit_cast<double>(last_[i])) / seconds;
    } else {
      if (later && slots[i] >= last_[i])
        sample[i] = static_cast<double>(slots[i] - last_[i]) / seconds;
      if (later && slots[i] < last_[i]) ++resets_;
    }
    if (remember) last_[i] = slots[i];
  }
  if (remember) last_mono_ = read_mono;
}

}  // namespace pingloom::collector::analytics
