// Jumps of a group's load that come each day, or each week, at the same time: a batch job at 02:00,
// the opening of a market. A jump is known once it came at about the same time of the day three
// times, one, two, three or seven days after the time before, by about as much. It is forgotten
// when it has not come for eight days.
//
// Values; one thread, no clock. Memory is kMaxJumps jumps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/analytics/deviation_judge.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class KnownJumps {
 public:
  static constexpr std::size_t kMaxJumps = 32;
  static constexpr unsigned kKnownTimes = 3;
  static constexpr std::int64_t kEarlier = 15;  // minutes that a jump may come too early or late
  static constexpr double kLarger = 1.5;        // how much larger than usual it may be

  // The jumps that are known to come at about this time. A minute is numbered from the beginning of
  // 1970.
  LoadJumps at(std::int64_t minute) const;
  // Takes how far the load is off in a sample, and how unusual that is: above 1 it is. What does
  // not last long enough for an anomaly is no jump.
  void observe(std::int64_t minute, double jump, double score);
  // Forgets a jump that has begun, because the clock was set.
  void restart() { samples_ = 0; }
  void state(StateArchive& archive);

 private:
  struct Jump {
    std::int64_t minute = 0;  // when it came last
    float size = 0;           // in the load's standard deviations; 0 if there is none
    std::uint8_t times = 0;

    void state(StateArchive& archive);
  };
  void learn();

  std::array<Jump, kMaxJumps> jumps_{};
  // The jump that has begun.
  std::int64_t began_ = 0;
  std::int64_t last_ = 0;  // the last minute with an unusual sample
  float size_ = 0;
  float evidence_ = 0;         // what the scores exceed 1 by, at most 1 of each
  std::uint32_t samples_ = 0;  // unusual ones; 0 if none has begun
};

}  // namespace pingloom::collector::analytics
