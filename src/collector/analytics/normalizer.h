// Tracks the mean and deviation of each metric of a group as they drift, and expresses samples in
// standard deviations from the mean, so that bytes and ratios are comparable.
//
// Mean and variance of the first samples are those of all of them (Welford); from half_life on,
// roughly, older ones count less and less. After kSettled samples one far off counts as kFarthest
// deviations, so that a wild value in the warm-up does not make its metric blind.
//
// A metric that has been constant: its scale is kFloor of its mean; of a constant 0 there is none,
// and any other value is as far off as can be. That is what makes the first error of a counter that
// never counted any be seen.
//
// One thread; memory is taken at construction.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

// Tells whether squares and sums of a number do not overflow.
inline bool usable(double value) { return std::abs(value) <= 1e100; }

class Normalizer {
 public:
  static constexpr double kFarthest = 12;  // normalised numbers are clamped to this distance from 0
  static constexpr double kFloor = 1e-6;
  static constexpr std::uint64_t kSettled = 30;

  // half_life is in samples.
  Normalizer(std::size_t metrics, double half_life);

  // REQUIRES for both: one element for each metric, and all are usable().
  // Slots that are not `ready` are not learned.
  void learn(std::span<const double> sample, const std::vector<bool>& ready);
  void normalize(std::span<const double> sample, std::span<double> out) const;
  void clear();
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive) { archive(samples_, mean_, variance_); }
  // Returns how many metrics have not been constant.
  std::size_t varying() const;

  // Returns how much of a metric counts as 1; 0 if it has always been 0.
  double scale(std::size_t metric) const;

 private:
  double slowest_;  // weight of a new sample in the long run
  std::vector<std::uint64_t> samples_;
  std::vector<double> mean_;
  std::vector<double> variance_;
};

}  // namespace pingloom::collector::analytics
