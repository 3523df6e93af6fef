// Compares replicas: groups that have the same metrics and ought to behave alike. Each metric of a
// replica, smoothed, is compared with the median over all replicas, and its distance with how far
// replicas usually are from it (the median of the distances, as in MAD). So a replica is found that
// is slow from its first minute on, although nothing else is usual in its own history.
//
// One metric that is far off is an anomaly, and so are several that are less far off at once for
// longer: where values scatter much, a slow replica is found by all of its latencies together.
//
// A replica that always differs (more memory, a share of the load of its own) is judged by what
// is usual for it: while it is calm its distance is learned slowly, and at once after an anomaly of
// `relearn_after` samples. If more than kRole of the replicas are far off in a metric at once,
// that is a role or a rollout, and no replica's fault: their distances are the new usual.
//
// The replicas of a group may have different settings: each is judged by its own.
//
// One thread, no clock. Memory is 17 bytes for each metric of each replica, and 56 for each metric
// of a group. Replica's constructor and PeerGroup's allocate; judge() does when there are more
// replicas than ever before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/hysteresis.h"
#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

// A metric by which a replica differs.
struct PeerContribution {
  std::uint32_t metric = 0;
  double score = 0;  // unusual above 1; negative if it is lower than its peers'
  double value = 0;  // smoothed
  double peers = 0;  // the median of all replicas
};

struct PeerVerdict {
  static constexpr std::size_t kTop = 5;

  bool judged = false;     // false while it is young or has too few peers
  bool anomalous = false;  // see PeerGroup::conclude()
  bool changed = false;    // whether `anomalous` changed
  double score = 0;        // of its metric that is farthest off, or of several; unusual above 1
  std::array<PeerContribution, kTop> top{};  // in descending order
  std::size_t top_count = 0;
};

// docs/analytics.md, "Peers", explains them.
struct PeerSettings {
  // A single one of four replicas would be more than PeerGroup::kRole of them.
  static constexpr std::uint32_t kMinReplicas = 5;
  static constexpr std::uint32_t kMaxReplicas = 10'000;
  static constexpr std::uint32_t kMaxLimit = 1000;
  static constexpr std::uint32_t kMaxMemory = 3600;  // a float would lose smaller steps

  bool enabled = true;  // false: the replica is not compared
  // The least limit of a distance, in multiples of the usual one, 1 to kMaxLimit.
  double limit = 6;
  HysteresisSettings hysteresis{.raise = 5, .window = 9};  // valid()
  double memory = 20;  // samples over which values are smoothed, 1 to kMaxMemory
  // Among fewer ones it is not judged; kMinReplicas to kMaxReplicas.
  std::uint32_t replicas = kMinReplicas;

  bool operator==(const PeerSettings&) const = default;
};

class Replica {
 public:
  // REQUIRES: settings within their bounds.
  explicit Replica(std::size_t metrics, const PeerSettings& settings = {});
  // Judges by other settings from now on. What is usual for it stays; an anomaly ends, and begins
  // again if it is one by the new settings. REQUIRES: they are within their bounds.
  void set(const PeerSettings& settings);
  const PeerSettings& settings() const { return settings_; }

  // Takes its next sample. A value that is not finite is missing and changes nothing. REQUIRES:
  // an element for each metric.
  void observe(std::span<const double> sample);
  // Takes over how another replica usually differs from its peers. The origins are numbers of that
  // replica's metrics.
  void takeOver(const Replica& other, SlotOrigins from);
  // What takeOver() needs of it.
  void state(StateArchive& archive) { archive(metrics_); }
  // It is not compared any more: its anomaly ends.
  void leave();
  // What PeerGroup::judge() found last.
  const PeerVerdict& verdict() const { return verdict_; }

 private:
  friend class PeerGroup;
  struct Metric {
    float last = 0;
    float smooth = 0;
    float usual = 0;     // its usual distance, relative
    float distance = 0;  // the present one

    void state(StateArchive& archive) { archive(usual); }
  };
  PeerSettings settings_;
  std::vector<Metric> metrics_;
  std::vector<bool> moved_;  // whether the metric had another value than in the sample before
  std::uint32_t samples_ = 0;
  std::uint32_t anomalous_samples_ = 0;
  Hysteresis one_far_;
  Hysteresis several_off_{{.raise = 24, .window = 28}};
  PeerVerdict verdict_;
};

class PeerGroup {
 public:
  // Samples before a replica is judged, or its `memory` if that is longer.
  static constexpr std::uint32_t kYoung = 20;
  // Rounds in which a metric has moved before replicas are judged by it, and rounds without a move
  // after which it is learned anew.
  static constexpr std::uint32_t kLearn = 100;
  static constexpr std::uint32_t kForget = 600;
  static constexpr double kRole = 0.2;  // of the replicas

  explicit PeerGroup(std::size_t metrics);

  // Judges all replicas after each of them has taken a sample. `relearn_after` is in samples.
  // REQUIRES: each has the group's number of metrics.
  void judge(std::span<Replica* const> replicas, std::uint32_t relearn_after);

 private:
  // The usual second-largest value in a minute: one slow replica must not become usual for all.
  struct Tail {
    double usual = 0;
    double highest = 0;  // of the current minute

    void note(double second, double most);
    void learn(double minutes);
  };
  struct Metric {
    double away = 0;           // the usual size of distances between value and median, smoothed
    double spread = 0;         // the usual size of relative distances from the usual, smoothed
    double present = 0;        // the larger one of that and its present size
    std::uint32_t rounds = 0;  // in which it moved
    std::uint32_t still = 0;   // rounds since it moved
    Tail tail;                 // of distances, in multiples of `present`
    float median = 0;
  };
  static double limitOf(const Replica& replica, const Metric& metric);
  bool compare(std::size_t number);
  void setDistances(std::size_t number);
  void score(std::size_t number);
  void conclude(std::uint32_t relearn_after);
  static void conclude(Replica& replica, bool several_off, std::uint32_t relearn_after);
  void learnTails();

  std::vector<Metric> metrics_;
  Tail several_;                  // of the scores that kTop metrics of a replica reach at once
  std::vector<Replica*> judged_;  // of this round
  std::vector<float> scratch_;
  std::uint64_t rounds_ = 0;
  std::uint32_t in_block_ = 0;
};

}  // namespace pingloom::collector::analytics
