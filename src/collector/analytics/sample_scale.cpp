#include "collector/analytics/sample_scale.h"

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {

namespace {

constexpr double kBend = 0.3;  // of the usual size of a value
// What counts as a deviation of a metric that has been constant, as a share of the constant.
constexpr double kOfConstant = 0.01;
constexpr double kTiny = 1e-290;             // sizes below are 0
constexpr double kFarthestInWarmUp = 12;     // deviations
constexpr std::uint32_t kSettledScale = 30;  // samples

}  // namespace

void SampleScale::learn(std::span<const double> sample, std::uint32_t most) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.samples >= most) continue;
    const double weight = 1 / static_cast<double>(++slot.samples);
    // A wild value in the warm-up must not make its metric blind.
    const double far = kFarthestInWarmUp * std::sqrt(slot.variance);
    double apart = sample[i] - slot.mean;
    if (slot.samples > kSettledScale && far > 0) apart = std::clamp(apart, -far, far);
    slot.size += weight * (std::abs(slot.mean + apart) - slot.size);
    slot.mean += weight * apart;
    slot.variance = (1 - weight) * (slot.variance + weight * apart * apart);
    const bool large = slot.size > kTiny;
    slot.bend = large ? kBend * slot.size : 1;
    slot.centre = std::asinh(slot.mean / slot.bend);
    double deviation = std::sqrt(slot.variance);
    if (deviation <= 1e-9 * slot.size) deviation = large ? kOfConstant * slot.size : 1;
    // The slope of asinh at the mean makes one deviation there one.
    slot.factor = std::hypot(slot.bend, slot.mean) / deviation;
  }
}

void SampleScale::apply(std::span<const double> sample, std::span<double> out) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    out[i] = (std::asinh(sample[i] / slot.bend) - slot.centre) * slot.factor;
  }
}

void SampleScale::applyToDifferences(std::span<const double> sample,
                                     std::span<const double> differences,
                                     std::span<double> out) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    out[i] = differences[i] * slot.factor / std::hypot(slot.bend, sample[i]);
  }
}

void SampleScale::clear() { std::fill(slots_.begin(), slots_.end(), Slot()); }

}  // namespace pingloom::collector::analytics
