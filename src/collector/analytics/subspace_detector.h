// Detects when the metrics of a group do not vary together as they usually do.
//
// A sample is the vector of all slots of a group, counters as rates (rate_tracker.h). It is brought
// to one scale, and the part that a model explains is taken away. There are two models:
//   cold      the group's principal directions, which a Frequent Directions sketch holds and which
//             follow the samples;
//   learned   an autoencoder that is fitted to the last day's samples, again and again as they
//             grow. It takes over where it left less of the samples since its fit, which it has
//             never seen, than the model before it.
// deviation_judge.h judges what is left. A score above 1 is unusual, and alarm.h tells when unusual
// samples are an anomaly.
//
// A change that moves all metrics as usual, more load say, is explained and is no anomaly.
//
// A slot that is new, or was without values for long, is learned while the others are judged. It is
// judged as soon as it has been active for warm_up samples; if a learned model is in charge, once
// one takes over that was fitted with it.
//
// What is over the limit is not learned, and nothing is while the group is anomalous: an incident
// does not teach itself. An anomaly that lasts for relearn_after samples is the new usual, and all
// is learned anew.
//
// One thread, no clock: settings count samples. Memory is taken at construction, about
// 16 * slots * (directions + 30) bytes, and kHistoryRows * 4 bytes for each slot if the group is
// small enough for a learned model. observe() allocates nothing; fit() does when a fit begins and
// ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collector/analytics/adaptive_sampler.h"
#include "collector/analytics/alarm.h"
#include "collector/analytics/autoencoder.h"
#include "collector/analytics/autoencoder_fit.h"
#include "collector/analytics/deviation_judge.h"
#include "collector/analytics/frequent_directions.h"
#include "collector/analytics/hysteresis.h"
#include "collector/analytics/main_direction.h"
#include "collector/analytics/normalizer.h"
#include "collector/analytics/rearrange.h"
#include "collector/analytics/sample_history.h"
#include "collector/analytics/sample_scale.h"
#include "collector/analytics/slot_activity.h"
#include "collector/analytics/slot_presence.h"
#include "collector/analytics/state_archive.h"
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
  double factor = 2.2;  // factor of the limits, see score_limit.h
  double pace = 0.02;   // pace of the limits, see score_limit.h
  // For how many samples the sustained deviation remembers.
  double memory = 25;
  HysteresisSettings hysteresis{.raise = 5, .window = 9};
  double evidence = 5;                 // that begins an anomaly, see alarm.h
  std::uint32_t relearn_after = 3600;  // samples
  bool learned = true;                 // whether an autoencoder is fitted
  bool season = true;                  // whether the group has a Season; not read by the detector

  bool operator==(const SubspaceSettings&) const = default;
};

struct Contribution {
  std::uint32_t slot = 0;
  // This metric's own score; it is negative if the metric is too low.
  double score = 0;
  Statistic statistic = Statistic::kPeak;
};

struct SubspaceVerdict {
  static constexpr std::size_t kTop = 5;

  GroupState state = GroupState::kLearning;
  bool changed = false;  // whether it became anomalous or ceased to be, which sends an event
  // whether the numbers below are valid; false in the warm-up and for skipped samples
  bool judged = false;
  double score = 0;  // unusual if > 1: the largest of the statistics' scores
  std::array<double, kStatistics> scores{};  // by Statistic; each is unusual if > 1
  Statistic statistic = Statistic::kPeak;    // the one with the largest score
  // How far the load is off, in its standard deviations, and its score, known or not.
  double load_jump = 0;
  double load_score = 0;
  std::array<Contribution, kTop> top{};  // the metrics that deviate most, in descending order
  std::size_t top_count = 0;
};

class SubspaceDetector {
 public:
  static constexpr std::uint32_t kMaxWarmUp = 1'000'000;
  static constexpr unsigned kMaxEvidence = 1000;
  static constexpr std::size_t kMaxLearnedSlots = 128;
  static constexpr std::size_t kHistoryRows = 4096;
  static constexpr std::uint64_t kDay = 86400;      // samples
  static constexpr std::uint64_t kFirstFit = 1800;  // samples

  static Status check(const SubspaceSettings& settings, std::size_t slots);

  // REQUIRES: check(settings, slots).
  SubspaceDetector(std::size_t slots, const SubspaceSettings& settings);

  // Judges one sample; the verdict is valid until the next call. A value that is not finite is
  // missing (a torn or stale page, an unknown rate): the sample is skipped and the state stays.
  // slot_presence.h handles values that are missing for long. `least` says for each slot by how
  // much a value has to differ from what is expected to be unusual, in the value's unit; empty: any
  // difference may be. A jump of the load that `known` has is not unusual. REQUIRES: sample.size()
  // == slots.
  const SubspaceVerdict& observe(std::span<const double> sample, std::span<const double> least = {},
                                 const LoadJumps& known = {});
  const SubspaceVerdict& latest() const { return verdict_; }
  // Forgets everything and begins the warm-up again.
  void relearn();
  // The group has other slots from now on. What is known about the slots that stay is kept, and new
  // ones are learned while the others are judged. `learned` replaces the setting. REQUIRES:
  // check(settings, from.size()).
  void rearrange(SlotOrigins from, bool learned);
  bool mayLearn() const { return settings_.learned; }
  const SubspaceSettings& settings() const { return settings_; }
  // A fit that has begun is not kept, so one begins at once when it is read.
  void state(StateArchive& archive);
  GroupState groupState() const {
    if (alarm_.raised()) return GroupState::kAnomalous;
    return warmingUp() ? GroupState::kLearning : GroupState::kQuiet;
  }

  // Whether fit() has something to do.
  bool wantsFit() const { return fit_ != nullptr || fitIsDue(); }
  // Works on the learned model for about so many rows of the history (autoencoder_fit.h).
  void fit(std::size_t rows);

  // Whether it keeps kHistoryRows samples, because a model is fitted for the group.
  bool keepsHistory() const { return settings_.learned && history_.slots() <= kMaxLearnedSlots; }

  std::uint64_t judged() const { return judged_; }
  std::uint64_t skipped() const { return skipped_; }
  std::uint64_t anomalies() const { return anomalies_; }
  std::uint64_t relearned() const { return relearned_; }
  std::uint64_t fits() const { return fits_; }
  std::uint64_t adopted() const { return adopted_; }
  bool usesLearnedModel() const { return learned_ != nullptr; }

 private:
  // A model with the judge of what it leaves.
  struct Learned {
    std::unique_ptr<Autoencoder> model;
    MainDirection direction;
    DeviationJudge judge;
    std::vector<double> left;

    void state(StateArchive& archive) { archive(*model, direction, judge); }
  };
  std::unique_ptr<Learned> newLearned(std::unique_ptr<Autoencoder> model) const;
  void state(StateArchive& archive, std::unique_ptr<Learned>& learned) const;
  DeviationJudge::Settings judgeSettings() const;
  void rearrangeModels(SlotOrigins from, bool learned);
  bool warmingUp() const { return samples_ < settings_.warm_up; }
  void warmUp();
  void judge(const LoadJumps& known);
  void learnSketch();
  void updateRank();
  void explain();
  void observeModels(const LoadJumps& known, bool calm);
  template <typename Model>
  std::span<const double> leastOf(const Model& model);
  void findTop(const DeviationJudge& judge);
  bool fitIsDue() const;
  void endFit();
  void compare();

  SubspaceSettings settings_;
  SlotPresence presence_;
  SlotActivity activity_;
  SampleScale scale_;
  Normalizer normalizer_;
  FrequentDirections sketch_;
  MainDirection direction_;
  DeviationJudge judge_;
  SampleHistory history_;
  Alarm alarm_;
  std::unique_ptr<Learned> learned_;    // in charge unless nullptr
  std::unique_ptr<Learned> candidate_;  // being compared with the one in charge
  std::unique_ptr<AutoencoderFit> fit_;
  std::vector<double> sample_;  // 0 for slots that are left out
  std::vector<bool> ready_;     // whether a slot's scale is known
  std::vector<double> scaled_;
  std::vector<double> normalized_;
  std::vector<double> least_;           // the least difference that counts, scaled
  std::vector<double> least_left_;      // the same as a part that a model leaves
  std::vector<double> left_;            // the part that the directions do not explain
  std::vector<double> recent_scores_;   // of the slots, smoothed
  std::vector<double> better_, worse_;  // squares that candidate and model in charge have left
  std::uint64_t compared_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t next_fit_ = kFirstFit;
  std::size_t rank_ = 0;
  std::uint64_t rank_compression_ = 0;  // the compression for which rank_ was computed
  std::uint32_t anomalous_samples_ = 0;
  SubspaceVerdict verdict_;
  std::uint64_t judged_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t anomalies_ = 0;
  std::uint64_t relearned_ = 0;
  std::uint64_t fits_ = 0;
  std::uint64_t adopted_ = 0;
};

}  // namespace pingloom::collector::analytics
