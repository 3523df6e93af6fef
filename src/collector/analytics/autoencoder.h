// An autoencoder: a small neural network that has learned to repeat a group's samples although they
// pass through kCode numbers, n-48-4-48-n with tanh between. What it does not repeat is unusual. It
// follows curves that no direction can, such as a latency near saturation.
//
// autoencoder_fit.h makes one. One thread; memory is about 420 bytes for each slot. No call
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class Autoencoder {
 public:
  static constexpr std::size_t kHidden = 48;
  static constexpr std::size_t kCode = 4;
  static constexpr double kFarthest = 6;  // normalised numbers are clamped to this distance from 0

  // Begins with random weights that depend on the seed only. A slot's scale is 0 if the slot has no
  // part in the model.
  Autoencoder(std::vector<float> mean, std::vector<float> scale, std::uint64_t seed);

  // Computes what it does not repeat of each slot, in standard deviations; 0 for slots without a
  // part. REQUIRES: both spans have an element for each slot.
  void residual(std::span<const double> sample, std::span<double> out);

  // A new slot has no part in it.
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive) { archive(mean_, scale_, weights_); }

  std::size_t slots() const { return mean_.size(); }
  // The standard deviation that counts as 1 in a residual.
  float scale(std::size_t slot) const { return scale_[slot]; }

  // The layers' weights and biases one after the other, column by column.
  std::vector<float>& weights() { return weights_; }
  const std::vector<float>& weights() const { return weights_; }
  static constexpr std::size_t weightsFor(std::size_t slots) {
    return kHidden * slots + kHidden + kCode * kHidden + kCode + kHidden * kCode + kHidden +
           slots * kHidden + slots;
  }

 private:
  std::vector<float> mean_;
  std::vector<float> scale_;
  std::vector<float> weights_;
  std::vector<float> input_, output_;
};

}  // namespace pingloom::collector::analytics
