// What is usually left of each metric of a group at a given load, after its model has explained the
// rest: mean and variance by bins of the load, interpolated between their centres. Noise that grows
// with the load is then no deviation, and neither is the curve that a linear model leaves.
//
// A bin is known after kKnown samples; before that nothing can be judged at its load. Old samples
// count less and less: the weight of a new one in a bin is at least 1/kMemory.
//
// One thread; memory is 8 * kBins bytes for each metric, taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class LoadSpread {
 public:
  static constexpr std::size_t kBins = 17;  // centres at -8 to 8; loads beyond are clamped
  static constexpr float kKnown = 60;       // samples
  static constexpr float kMemory = 1800;    // samples
  // Samples at one load come in a few visits and resemble their neighbours, so this many say as
  // much about the mean as one that stands alone. Chosen on the benchmark's seeds 1 to 8.
  static constexpr float kAlike = 300;
  // What is left of a metric counts as at least this part of its standard deviation. Otherwise
  // rounding errors of a metric that the others explain exactly would be deviations.
  static constexpr float kLeast = 0.1F;

  explicit LoadSpread(std::size_t metrics);

  // Sets the load of the sample to which the calls below refer.
  void place(double load);
  // Whether there were `samples` samples at this load.
  bool known(float samples = kKnown) const;
  // Whether a metric was learned from so many samples at this load.
  bool knows(std::size_t metric, float samples) const;
  // Returns how far `left` is from its usual value, in multiples of its usual deviation.
  double deviation(std::size_t metric, double left) const;
  // Returns this usual deviation.
  double size(std::size_t metric) const;
  // Returns which part of a deviation counts, from 0 to 1: after few samples at this load it may be
  // an error of the mean. `doubt` from 0 to 1 says how much that matters.
  float certainty(std::size_t metric, float doubt) const;
  // Learns the sample. `ages` are the numbers of samples for which each metric has been active; one
  // that begins to be is learned anew.
  void learn(std::span<const double> left, std::span<const std::uint32_t> ages);
  void clear();
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive) { archive(counts_, seen_, mean_, variance_); }

 private:
  // A metric's value at the load, from those of the two bins.
  float between(const std::vector<float>& values, std::size_t metric) const;
  void learnBin(std::size_t bin, float share, std::span<const double> left);

  std::size_t metrics_;
  std::vector<float> counts_;
  std::vector<float> seen_;  // samples of each metric, bin by bin, like the next two
  std::vector<float> mean_;
  std::vector<float> variance_;
  std::size_t bin_ = 0;  // the lower one of the two nearest bins
  float share_ = 0;      // the share of the upper one
};

}  // namespace pingloom::collector::analytics
