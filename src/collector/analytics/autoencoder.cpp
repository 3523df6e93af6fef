#include "collector/analytics/autoencoder.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "collector/analytics/autoencoder_layers.h"

namespace pingloom::collector::analytics {

namespace {

// Gives numbers from -1 to 1. The standard library's distributions differ between implementations.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : random_(seed) {}
  float operator()() { return static_cast<float>(random_() >> 11) * 0x1p-52F - 1; }

 private:
  std::mt19937_64 random_;
};

}  // namespace

Autoencoder::Autoencoder(std::vector<float> mean, std::vector<float> scale, std::uint64_t seed)
    : mean_(std::move(mean)),
      scale_(std::move(scale)),
      weights_(weightsFor(mean_.size())),
      input_(mean_.size()),
      output_(mean_.size()) {
  Uniform uniform(seed);
  Layers<float> layers(weights_.data(), slots());
  // Glorot and Bengio's bounds keep the variance from layer to layer.
  const auto fill = [&](auto& matrix) {
    const float bound = std::sqrt(6 / static_cast<float>(matrix.rows() + matrix.cols()));
    for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = bound * uniform();
  };
  fill(layers.in);
  fill(layers.narrow);
  fill(layers.wide);
  fill(layers.out);
}

void Autoencoder::rearrange(SlotOrigins from) {
  std::vector<float> weights(weightsFor(from.size()));
  const Layers<const float> old(std::as_const(weights_).data(), slots());
  Layers<float> moved(weights.data(), from.size());
  moved.in_bias = old.in_bias;
  moved.narrow = old.narrow;
  moved.narrow_bias = old.narrow_bias;
  moved.wide = old.wide;
  moved.wide_bias = old.wide_bias;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == kNewSlot) continue;
    const auto to = static_cast<Eigen::Index>(i);
    const auto origin = static_cast<Eigen::Index>(from[i]);
    moved.in.col(to) = old.in.col(origin);
    moved.out.row(to) = old.out.row(origin);
    moved.out_bias[to] = old.out_bias[origin];
  }
  weights_ = std::move(weights);
  analytics::rearrange(mean_, from);
  analytics::rearrange(scale_, from);
  input_.resize(from.size());
  output_.resize(from.size());
}

void Autoencoder::residual(std::span<const double> sample, std::span<double> out) {
  const Layers<const float> layers(std::as_const(weights_).data(), slots());
  for (std::size_t i = 0; i < slots(); ++i) {
    const double normalized = scale_[i] > 0 ? (sample[i] - mean_[i]) / scale_[i] : 0;
    input_[i] = static_cast<float>(std::clamp(normalized, -kFarthest, kFarthest));
  }
  const Eigen::Map<const Eigen::VectorXf> input(input_.data(), layers.width);
  Eigen::Map<Eigen::VectorXf> repeated(output_.data(), layers.width);
  Eigen::Matrix<float, kHiddenRows, 1> hidden = layers.in_bias;
  hidden.noalias() += layers.in * input;
  hidden = hidden.array().tanh();
  Eigen::Matrix<float, kCodeRows, 1> code = layers.narrow_bias;
  code.noalias() += layers.narrow * hidden;
  hidden = layers.wide_bias;
  hidden.noalias() += layers.wide * code;
  hidden = hidden.array().tanh();
  repeated = layers.out_bias;
  repeated.noalias() += layers.out * hidden;
  for (std::size_t i = 0; i < slots(); ++i) {
    const double normalized = scale_[i] > 0 ? (sample[i] - mean_[i]) / scale_[i] : output_[i];
    out[i] = normalized - output_[i];
  }
}

}  // namespace pingloom::collector::analytics
