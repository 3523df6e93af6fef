// Brings metrics of all units to one scale on which multiples count alike: y = asinh(x / c), in
// deviations from the mean. Far from 0 this is a logarithm, so that a latency that doubles is as
// far off at 10 ms as at 100 ms, and near 0 it is linear. c, mean and deviation are those of the
// samples that were learned, and stay. One thread; memory is taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class SampleScale {
 public:
  explicit SampleScale(std::size_t slots) : slots_(slots) {}

  // REQUIRES for both: one usable() value for each slot (see normalizer.h).
  // A slot that has learned `most` samples keeps its scale.
  void learn(std::span<const double> sample, std::uint32_t most);
  void apply(std::span<const double> sample, std::span<double> out) const;
  // Brings small differences of the sample to the scale.
  void applyToDifferences(std::span<const double> sample, std::span<const double> differences,
                          std::span<double> out) const;
  // Whether a slot has learned so many samples.
  bool hasLearned(std::size_t slot, std::uint32_t most) const {
    return slots_[slot].samples >= most;
  }
  void clear();
  void rearrange(SlotOrigins from) { analytics::rearrange(slots_, from); }
  void state(StateArchive& archive) { archive(slots_); }

 private:
  struct Slot {
    std::uint32_t samples = 0;
    double mean = 0;
    double variance = 0;
    double size = 0;  // the mean of the absolute values
    double bend = 1;  // c
    double centre = 0;
    double factor = 1;

    void state(StateArchive& archive) {
      archive(samples, mean, variance, size, bend, centre, factor);
      archive.require(bend > 0);
    }
  };
  std::vector<Slot> slots_;
};

}  // namespace pingloom::collector::analytics
