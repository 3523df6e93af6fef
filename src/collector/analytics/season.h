// Finds traffic that is lower than it usually is at this time of the day and of the week
// (season_table.h), however slowly it fell, and knows the jumps that come each day
// (known_jumps.h). Traffic that is higher is no anomaly.
//
// Traffic (traffic_level.h) is judged each minute: an anomaly begins when it was below the limit in
// three of the last five minutes, and ends when it was in none of them. Nothing of an anomaly is
// learned. One that lasts `relearn_after` samples is an exception, such as a holiday or a weekend:
// it ends, its half hours are learned as those of this time of the week, and traffic is compared
// with that of the last hour as well until it is as usual again. After a week it is the usual, and
// the season begins anew.
//
// When the clock is set, it is not known which time was the right one. So nothing is judged or
// learned for a day.
//
// One thread, no clock: times are passed in. Memory is about 6 KB, and 72 bytes for each slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collector/analytics/hysteresis.h"
#include "collector/analytics/known_jumps.h"
#include "collector/analytics/season_table.h"
#include "collector/analytics/state_archive.h"
#include "collector/analytics/traffic_level.h"
#include "common/time.h"

namespace pingloom::collector::analytics {

struct SeasonVerdict {
  static constexpr std::size_t kTop = 5;
  // A rate that is too low; both are per second.
  struct Low {
    std::uint32_t slot = 0;
    double score = 0;  // negative; unusual below -1
    double value = 0;  // in the last five minutes
    double usual = 0;  // at this time
  };

  bool judged = false;  // whether `score` is valid
  bool anomalous = false;
  bool changed = false;         // whether it became anomalous or ceased to be, which sends an event
  double score = 0;             // unusual if > 1
  std::array<Low, kTop> top{};  // the lowest rates of an anomaly, in ascending order
  std::size_t top_count = 0;
};

class Season {
 public:
  static constexpr Nanos kStep = 5 * kMinute;  // a clock that differs by more from before was set

  // `rates` says for each slot of the group whether it is a rate.
  Season(const std::vector<bool>& rates, std::uint32_t relearn_after);

  // Judges a sample; the verdict is valid until the next call. A value that is not usable() is
  // missing. REQUIRES: sample has an element for each slot.
  const SeasonVerdict& observe(const Instant& at, std::span<const double> sample);
  const SeasonVerdict& latest() const { return verdict_; }
  // The jumps of the load that are known to come at about the time of the last sample.
  LoadJumps jumps() const;
  // Takes how far the load was off in the last sample, and its score, known or not.
  void learnJump(double jump, double score);

  // Continues what another one knows. `from` says which slot was which.
  void takeOver(const Season& other, SlotOrigins from);
  void state(StateArchive& archive);

 private:
  // What the present half hour has been so far.
  struct HalfHour {
    std::int64_t number = 0;
    double sum = 0;     // of the level
    double apart = 0;   // sum of the level less what was expected
    double lowest = 0;  // the lowest of these
    std::uint32_t minutes = 0;
    bool anomalous = false;  // whether a part of it was

    double mean() const { return sum / minutes; }
    double fall() const { return apart / minutes - lowest; }
    void state(StateArchive& archive);
  };
  void clockWasSet();
  void advance(std::int64_t minute);
  void endMinute(std::int64_t minute);
  void judge(double level);
  void followException(double level);
  void setAnomalous(bool anomalous);
  void acceptException();
  void findTop();
  void add(std::int64_t minute, double level);
  void endHalfHour();

  std::uint32_t relearn_after_;
  TrafficLevel traffic_;
  SeasonTable table_;
  KnownJumps jumps_;
  Hysteresis hysteresis_;
  HalfHour half_hour_;
  // The last half hours of an anomaly. If it turns out to be an exception, they are learned.
  static constexpr std::size_t kPending = 8;
  std::array<HalfHour, kPending> pending_{};
  std::size_t pending_count_ = 0;
  std::optional<SeasonTable::Usual> usual_;  // at the last minute
  double level_ = 0;                         // likewise
  bool exception_ = false;
  double shift_ = 0;  // how far an exception's traffic is from the usual; at most 0
  std::uint32_t anomalous_samples_ = 0;
  std::uint32_t exception_minutes_ = 0;
  std::uint32_t doubtful_ = 0;  // for so many minutes more the time may be wrong
  std::int64_t minute_ = 0;     // 0 before the first sample
  Instant last_{};
  SeasonVerdict verdict_;
};

}  // namespace pingloom::collector::analytics
