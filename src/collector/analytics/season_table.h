// What a group's traffic usually is at a time of the day and of the week, in UTC. Both are divided
// into half hours; between the middles of two of them it is interpolated. A half hour has the mean
// of its days, and how far the lowest moments of a day usually lie from it.
//
// A time of the day is known once it was seen on three days. A time of the week is used instead of
// it once it was seen in two weeks, and after one week whichever is lower: traffic that is low on
// Saturdays is unusual on the first one only. Days count for a week and weeks for a month, so old
// ones fade.
//
// Values; one thread, no clock. Memory is 4.6 KB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/analytics/state_archive.h"
#include "common/time.h"

namespace pingloom::collector::analytics {

class SeasonTable {
 public:
  static constexpr std::int64_t kHalfHour = 30;  // minutes
  static constexpr std::int64_t kBinsOfDay = 48;
  static constexpr std::int64_t kBinsOfWeek = 7 * kBinsOfDay;
  static constexpr unsigned kKnownDays = 3;
  static constexpr unsigned kKnownWeeks = 2;
  // A level is unusual that is farther off than so many of the usual distances of a day's lowest.
  static constexpr double kFar = 2.5;

  struct Usual {
    double mean = 0;
    double distance = 0;  // a level that is lower than the mean by more is unusual
  };
  // Minutes and half hours are numbered from the beginning of 1970. Returns nullopt if this time
  // was not seen on enough days.
  std::optional<Usual> usual(std::int64_t minute) const { return usual(minute, kKnownDays); }
  // What is known of this time as soon as it was seen on one day; 0 before.
  double expected(std::int64_t minute) const;
  // Learns a half hour: its mean level, and how far the level has fallen below it at least once,
  // apart from what was expected to fall. `exceptional` says that it is no usual day, which counts
  // for this time of the week only.
  void learn(std::int64_t half_hour, double mean, double fall, bool exceptional);
  void clear() { *this = SeasonTable(); }
  void state(StateArchive& archive);

 private:
  struct Bin {
    float mean = 0;
    float square = 0;        // mean of the squared distances from `mean`, since the second day
    std::uint16_t days = 0;  // up to what it remembers
    std::uint16_t last = 0;  // the day that it has learned last

    void state(StateArchive& archive);
  };
  std::optional<Usual> usual(std::int64_t minute, unsigned days) const;
  std::optional<Usual> usualOf(std::int64_t half_hour, unsigned days) const;
  Usual usualOf(const Bin& bin) const;
  // How far the half hours before and after one that was not seen are from those of other days: it
  // was not learned because of an anomaly, and it need not be one again.
  double shiftOfDay(std::int64_t half_hour) const;
  void learn(Bin& bin, std::int64_t half_hour, double mean, double fall, unsigned memory);

  std::array<Bin, kBinsOfDay> days_{};
  std::vector<Bin> weeks_ = std::vector<Bin>(kBinsOfWeek);
  float square_ = 0;        // that of all times of the day
  std::uint32_t bins_ = 0;  // that it was learned from, up to those of a week
};

}  // namespace pingloom::collector::analytics
