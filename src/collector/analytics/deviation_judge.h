// Judges what a model leaves of a group's samples. What is left of a metric is compared with what
// is usual at the load (load_spread.h): its deviation. Statistics are formed of the deviations,
// each for a kind of incident. Each metric's statistic is divided by its own usual highest value,
// so that a metric with wild habits is judged by them and does not make the others invisible. The
// largest of a statistic has a limit (score_limit.h).
//
// One thread, no clock; memory is about 360 bytes for each metric, taken at construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "collector/analytics/load_spread.h"
#include "collector/analytics/rearrange.h"
#include "collector/analytics/score_limit.h"
#include "collector/analytics/slot_activity.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

enum class Statistic : std::uint8_t {
  kPeak,       // one metric is far off
  kSustained,  // one metric is a little off, for `memory` samples
  kLasting,    // the same for kLongMemory times as many
  kJitter,     // one metric scatters more than usual
  kResidual,   // all metrics together are off
  kLoad,       // the load has fallen or risen at once
  kFlat,       // one metric that always moves has stopped
};
constexpr std::size_t kStatistics = 7;
constexpr std::string_view name(Statistic statistic) {
  constexpr std::array<std::string_view, kStatistics> kNames = {
      "peak", "sustained", "lasting", "jitter", "residual", "load", "flat"};
  return kNames[static_cast<std::size_t>(statistic)];
}

// Jumps of the load that are known to come at this time, in its standard deviations.
struct LoadJumps {
  double lowest = 0;   // 0, or that of a fall
  double highest = 0;  // 0, or that of a rise
};

class DeviationJudge {
 public:
  static constexpr double kLongMemory = 8;  // in multiples of `memory`
  static constexpr double kUnusual = 100;   // deviations are clamped to this distance from 0

  struct Settings {
    double memory = 25;
    double factor = 0;
    double pace = 0;
    HysteresisSettings hysteresis;
    std::uint32_t young = 0;  // samples before a slot that became active is judged
  };

  DeviationJudge(std::size_t slots, const Settings& settings);

  // Forms the statistics of a sample. `calm` says that there is no anomaly, whose values are not to
  // become usual. A part that is off by less than `least` is not unusual, whatever the limits,
  // unless that is eleven times the usual deviation. The load is not unusual if it is off as
  // `known` says, in the load's unit. REQUIRES: `left` and `least` have an element for each slot.
  void observe(std::span<const double> left, std::span<const double> least, double load,
               const LoadJumps& known, const SlotActivity& activity, bool calm);
  // Learns the sample that was observed last. `over` says that it was unusual: only a load that is
  // not known yet is learned then.
  void learn(std::span<const double> left, const SlotActivity& activity, bool over);
  // Learns a sample's spread only, for samples that do not follow each other.
  void learnSpread(std::span<const double> left, double load, const SlotActivity& activity);
  // Takes over what another judge of the same slots knows about statistics and limits.
  void inherit(const DeviationJudge& other);
  // Ends the warm-up, in which whatever is seen is usual.
  void settle() { settled_ = true; }
  void clear();
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive);

  // Each statistic divided by its limit: above 1 is unusual.
  const std::array<double, kStatistics>& scores() const { return scores_; }
  // A slot's own score in the statistic in which it is largest; it is negative if its value is too
  // low.
  double score(std::size_t slot) const { return slot_scores_[slot]; }
  Statistic statistic(std::size_t slot) const { return slot_statistics_[slot]; }
  // How far the load is off in the latest sample, and its score, known or not.
  double loadJump() const { return jump_; }
  double loadScore() const { return load_score_; }
  LoadSpread& spread() { return spread_; }

 private:
  static constexpr std::size_t kOwn = 4;  // statistics that each slot has
  struct Tail {
    float usual = 0;    // the usual highest value of a block
    float highest = 0;  // of the current block
    float least = 0;    // the least that `usual` may be

    void state(StateArchive& archive) {
      archive(usual, highest);
      archive.require(usual > 0);
    }
  };
  struct Slot {
    float sustained = 0;
    float lasting = 0;
    float last = 0;    // the deviation in the last sample
    float square = 0;  // of the steps from sample to sample, smoothed
    std::array<Tail, kOwn> tails;

    void state(StateArchive& archive) { archive(sustained, lasting, last, square, tails); }
  };
  static Slot freshSlot();
  // Divides it by its usual highest value. While that is learned, whatever is seen is usual.
  double of(Tail& tail, double value, bool learning) const;
  // How much a slot takes part in the verdict.
  enum class Part : std::uint8_t { kNone, kLearning, kJudged };
  Part partOf(std::size_t slot, const SlotActivity& activity) const;
  // A deviation from `matters` on may be unusual.
  void observeSlot(std::size_t slot, double deviation, double matters, bool learning);
  void observeLoad(double load, const LoadJumps& known);
  void endBlock();

  Settings settings_;
  LoadSpread spread_;
  std::vector<Slot> slots_;
  std::vector<double> slot_scores_;
  std::vector<Statistic> slot_statistics_;
  std::array<double, kStatistics> largest_{};
  std::array<double, kStatistics> scores_{};
  std::vector<ScoreLimit> limits_;
  Tail residual_, load_;
  double usual_load_ = 0;  // smoothed
  double jump_ = 0;        // how far the load is from it
  double load_score_ = 0;
  bool any_load_ = false;
  bool calm_ = true;
  bool settled_ = false;
  bool known_ = false;  // whether the load's bin is
  std::uint32_t in_block_ = 0;
  std::uint32_t blocks_ = 0;
};

}  // namespace pingloom::collector::analytics
