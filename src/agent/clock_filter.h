// The controller's UTC as an offset to CLOCK_MONOTONIC, from heartbeats and their replies. The
// reply with the shortest round trip among the last kSamples says it best: the true offset lies
// within half its round trip. A sample that contradicts the ones before means that a clock was
// stepped: it alone counts then. One thread; no clock is read here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/time.h"

namespace pingloom::agent {

class ClockFilter {
 public:
  static constexpr std::size_t kSamples = 16;

  // A heartbeat sent at sent_mono was answered with controller_utc and the answer was here at
  // received_mono. REQUIRES: sent_mono <= received_mono.
  void add(Nanos sent_mono, Nanos controller_utc, Nanos received_mono);
  std::optional<Nanos> offset() const;     // none before the first sample
  std::optional<Nanos> roundTrip() const;  // of the sample that gave the offset

 private:
  struct Sample {
    Nanos offset = 0;
    Nanos round_trip = 0;
  };
  const Sample* best() const;

  std::array<Sample, kSamples> samples_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace pingloom::agent
