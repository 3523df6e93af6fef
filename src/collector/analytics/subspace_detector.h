// Detects when the metrics of a group do not vary together as they usually do.
//
// A sample is the vector of all slots of a group, counters as rates (rate_tracker.h). It is
// normalised metric by metric, and the part that the group's principal directions explain, which a
// Frequent Directions sketch holds, is taken away. What is left of a metric is compared with what
// is usually left of it: its deviation. Three numbers are formed of the deviations:
//   residual   their root mean square: many metrics a little off;
//   peak       the largest: one far off, which a mean over a thousand metrics would hide;
//   sustained  the largest when each is smoothed over the last samples, and compared with what is
//              usual of that: one a little off, but for long.
// Each has a limit, learned and then slowly followed. score = the largest of the three, each
// divided by its limit: above 1 is out of the usual, N of M such samples are an anomaly.
//
// A change that moves all metrics as usual, more load say, is explained and is no anomaly.
//
// What is over the limit is not learned, and nothing is while the group is anomalous: an incident
// does not teach itself. An anomaly that lasts for relearn_after samples is the new usual, and all
// is learned anew.
//
// One thread, no clock: settings count samples. Memory is taken at construction, about
// 16 * slots * (directions + 4) bytes; no call allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/adaptive_sampler.h"
#include "collector/analytics/frequent_directions.h"
#include "collector/analytics/hysteresis.h"
#include "collector/analytics/normalizer.h"
#include "collector/analytics/score_limit.h"
#include "collector/analytics/slot_presence.h"
#include "common/error.h"

namespace pingloom::collector::analytics {

// docs/analytics.md explains each default.
struct SubspaceSettings {
  std::size_t directions = 32;  // ell of the sketch
  std::size_t max_rank = 8;     // maximum number of directions that explain a sample; may be 0
  double shared = 1.125;        // a direction counts if it has more variance than this many metrics
  std::uint32_t warm_up = 600;  // samples before the first verdict
  // The half-life of mean, variance and sketch, in samples.
  double half_life = 14400;
  double factor = 5;     // factor of the limits, see score_limit.h
  double pace = 0.0005;  // pace of the limits, see score_limit.h
  // For how many samples the sustained deviation remembers.
  double memory = 25;
  HysteresisSettings hysteresis{.raise = 5, .window = 9};
  std::uint32_t relearn_after = 3600;  // samples

  bool operator==(const SubspaceSettings&) const = default;
};

struct Contribution {
  std::uint32_t slot = 0;
  // This metric's score by peak and sustained deviation; it is negative if the metric is too low.
  double score = 0;
};

struct SubspaceVerdict {
  static constexpr std::size_t kTop = 5;

  GroupState state = GroupState::kLearning;
  bool changed = false;  // whether it became anomalous or ceased to be, which sends an event
  // whether the numbers below are valid; false in the warm-up and for skipped samples
  bool judged = false;
  double score = 0;  // unusual if > 1
  double residual = 0;
  double residual_limit = 0;
  double peak = 0;
  double peak_limit = 0;
  double sustained = 0;
  double sustained_limit = 0;
  std::array<Contribution, kTop> top{};  // the metrics that deviate most, in descending order
  std::size_t top_count = 0;
};

class SubspaceDetector {
 public:
  static constexpr std::uint32_t kMaxWarmUp = 1'000'000;

  static Status check(const SubspaceSettings& settings, std::size_t slots);

  // REQUIRES: check(settings, slots).
  SubspaceDetector(std::size_t slots, const SubspaceSettings& settings);

  // Judges one sample; the verdict is valid until the next call. A value that is not finite is
  // missing (a torn or stale page, an unknown rate): the sample is skipped and the state stays.
  // slot_presence.h handles values that are missing for long. REQUIRES: sample.size() == slots.
  const SubspaceVerdict& observe(std::span<const double> sample);
  const SubspaceVerdict& latest() const { return verdict_; }
  // Forgets everything and begins the warm-up again, because the slots have another meaning now.
  void relearn();

  std::uint64_t judged() const { return judged_; }
  std::uint64_t skipped() const { return skipped_; }
  std::uint64_t anomalies() const { return anomalies_; }
  std::uint64_t relearned() const { return relearned_; }

 private:
  bool warmingUp() const { return !peak_limit_.learned(); }
  void warmUp();
  void judge();
  void learn();
  void updateRank();
  void explain();
  // Returns the signed deviation in the latest sample, in multiples of the metric's usual
  // deviation.
  double deviation(std::size_t slot) const;
  double sustained(std::size_t slot) const;
  void score();
  void findTop();
  void addScores();

  SubspaceSettings settings_;
  double slowest_;    // weight of a new sample in the usual values in the long run
  double smoothing_;  // weight of the latest deviation in the sustained one
  SlotPresence presence_;
  Normalizer normalizer_;
  FrequentDirections sketch_;
  ScoreLimit residual_limit_;
  ScoreLimit peak_limit_;
  ScoreLimit sustained_limit_;
  Hysteresis hysteresis_;
  std::vector<double> sample_;  // 0 for slots that are left out
  std::vector<double> normalized_;
  std::vector<double> sustained_;  // signed, smoothed deviations
  std::vector<double> left_;       // the part that the directions do not explain
  std::vector<double> usually_sustained_;
  std::vector<double> usually_left_;  // mean square of that for each metric
  std::uint64_t left_samples_ = 0;    // number of samples in usually_left_
  std::uint64_t warm_up_samples_ = 0;
  std::size_t rank_ = 0;
  std::uint64_t rank_compression_ = 0;  // the compression for which rank_ was computed
  std::uint32_t anomalous_samples_ = 0;
  SubspaceVerdict verdict_;
  std::uint64_t judged_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t anomalies_ = 0;
  std::uint64_t relearned_ = 0;
};

}  // namespace pingloom::collector::analytics
