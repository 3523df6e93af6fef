#include "probe/stall_watch.h"

#include <algorithm>

namespace pingloom::probe {

void StallWatch::watchUntil(Nanos now, Nanos until) {
  if (!running_) {
    running_ = true;
    expected_ = now + tick_;
    until_ = until;
  }
  until_ = std::max(until_, until);
}

void StallWatch::tick(Nanos now) {
  if (!running_) return;
  if (now - expected_ > kLate) observed(expected_, now);
  expected_ = now + tick_;
  if (now >= until_) running_ = false;
}

void StallWatch::observed(Nanos from_mono, Nanos to_mono) {
  ring_[stalls_++ % kRemembered] = {from_mono, to_mono};
}

bool StallWatch::stalledDuring(Nanos from_mono, Nanos to_mono) const {
  const std::size_t known = std::min<std::uint64_t>(stalls_, kRemembered);
  return std::any_of(
      ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(known),
      [&](const Stall& stall) { return stall.from <= to_mono && from_mono <= stall.to; });
}

}  // namespace pingloom::probe
