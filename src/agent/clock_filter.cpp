#include "agent/clock_filter.h"

#include <algorithm>
#include <cstdlib>

namespace pingloom::agent {

void ClockFilter::add(Nanos sent_mono, Nanos controller_utc, Nanos received_mono) {
  const Nanos round_trip = received_mono - sent_mono;
  const Sample sample{controller_utc - (sent_mono + round_trip / 2), round_trip};
  if (const Sample* known = best(); known != nullptr) {
    const Nanos apart = std::abs(known->offset - sample.offset);
    if (apart > known->round_trip / 2 + round_trip / 2 + 1) count_ = next_ = 0;
  }
  samples_[next_] = sample;
  next_ = (next_ + 1) % kSamples;
  count_ = std::min(count_ + 1, kSamples);
}

const ClockFilter::Sample* ClockFilter::best() const {
  if (count_ == 0) return nullptr;
  return std::min_element(
      samples_.data(), samples_.data() + count_,
      [](const Sample& a, const Sample& b) { return a.round_trip < b.round_trip; });
}

std::optional<Nanos> ClockFilter::offset() const {
  const Sample* known = best();
  return known == nullptr ? std::nullopt : std::optional<Nanos>(known->offset);
}

std::optional<Nanos> ClockFilter::roundTrip() const {
  const Sample* known = best();
  return known == nullptr ? std::nullopt : std::optional<Nanos>(known->round_trip);
}

}  // namespace pingloom::agent
