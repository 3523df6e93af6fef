// Brings metrics of all units to one scale on which multiples count alike: y = asinh(x / c), in
// deviations from the mean. Far from 0 this is a logarithm, so that a latency that doubles is as
// far off at 10 ms as at 100 ms, and near 0 it is linear. c, mean and deviation are those of the
// samples that were learned, and stay. One thread; memory is taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pingloom::collector::analytics {

class SampleScale {
 public:
  explicit SampleScale(std::size_t slots) : slots_(slots) {}

  // REQUIRES for both: one usable() value for each slot (see normalizer.h).
  void learn(std::span<const double> sample);
  void apply(std::span<const double> sample, std::span<double> out) const;
  void clear();

 private:
  struct Slot {
    double mean = 0;
    double variance = 0;
    double size = 0;  // the mean of the absolute values
    double bend = 1;  // c
    double centre = 0;
    double factor = 1;
  };
  std::vector<Slot> slots_;
  std::uint64_t samples_ = 0;
};

}  // namespace pingloom::collector::analytics
