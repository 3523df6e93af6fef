// Estimates the offset of the controller's UTC to CLOCK_MONOTONIC from heartbeats and their
// replies. The best estimate is the reply with the shortest round trip among the last kSamples: the
// true offset lies within half its round trip. A sample that contradicts the earlier ones means
// that a clock was stepped, and replaces them. One thread; no clock is read here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/time.h"

namespace pingloom::agent {

class ClockFilter {
 public:
  static constexpr std::size_t kSamples = 16;

  // Adds a heartbeat that was sent at sent_mono and answered with controller_utc at received_mono.
  // REQUIRES: sent_mono <= received_mono.
  void add(Nanos sent_mono, Nanos controller_utc, Nanos received_mono);
  std::optional<Nanos> offset() const;     // nullopt before the first sample
  std::optional<Nanos> roundTrip() const;  // round trip of the sample that determines the offset

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
