// How much traffic a group has: one number for all of its rates (of counters, and of the values of
// histograms and summaries). A rate's level is the logarithm of its mean of the last kMinutes
// minutes, divided by its usual rate. The group's level is the weighted median of these; a rate
// that goes its own way, such as that of errors, weighs little.
//
// The usual rates follow the group for a day: a rate that becomes a larger part of the traffic
// moves its own usual rate, not the group's level. So the level means the same for weeks, also if
// rates come and go, as long as some stay.
//
// One thread, no clock. Memory is 72 bytes for each slot of the group, taken at construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class TrafficLevel {
 public:
  static constexpr std::size_t kMinutes = 5;
  static constexpr double kFarthest = 6;  // a rate's level is clamped to this distance from 0

  // `rates` says for each slot of the group whether it is a rate.
  explicit TrafficLevel(const std::vector<bool>& rates);

  // Adds a sample to the present minute. Values that are not usable() or below 0 are missing.
  // REQUIRES: it has an element for each slot.
  void add(std::span<const double> sample);
  // Ends the present minute and returns the level of the last ones, or nullopt if less than three
  // of them are known.
  std::optional<double> endMinute();
  // Learns the minute that was ended last.
  void learn();
  // Forgets the last minutes.
  void forget();

  std::size_t slots() const { return slots_.size(); }
  // Whether the group has a rate.
  bool any() const { return any_; }
  // The least distance that a rate usually has from the group's level.
  float leastApart() const;
  // A rate's level in the last minutes, or nullopt if it is not known, or does not follow the
  // group's about as well as the one that does so best. `least` is leastApart().
  std::optional<double> follows(std::size_t slot, float least) const;
  // A slot's mean rate of the last minutes, and the rate that it has at a level of the group.
  double rate(std::size_t slot) const { return slots_[slot].mean; }
  double rateAt(std::size_t slot, double level) const;

  // Continues what is known of other slots of the group. If none of the rates stays, nothing is
  // known from then on, and it returns false.
  bool takeOver(const TrafficLevel& other, SlotOrigins from);
  void state(StateArchive& archive);

 private:
  static constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  struct Slot {
    bool rate = false;
    bool known = false;         // whether `usual` is
    float apart = 0.3F;         // its usual distance from the group's level
    double usual = 0;           // the logarithm of its rate where the group's level is 0
    double sum = 0;             // of the present minute
    std::uint32_t samples = 0;  // likewise
    std::array<float, kMinutes> minutes{};
    float mean = kUnknown;  // of the last minutes
    float level = kUnknown;

    void state(StateArchive& archive);
  };
  void endMinute(Slot& slot);
  double weightedMedian();

  std::vector<Slot> slots_;
  std::vector<std::pair<double, double>> levels_;  // with their weights
  std::uint32_t learned_ = 0;                      // minutes, up to a day
  std::size_t minute_ = 0;                         // where the present minute will be
  double level_ = 0;
  bool any_ = false;
  bool complete_ = false;  // whether level_ is of the last minutes
};

}  // namespace pingloom::collector::analytics
