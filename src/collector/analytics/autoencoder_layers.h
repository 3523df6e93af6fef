// The layers of an autoencoder as matrices in its row of weights. For autoencoder.cpp and
// autoencoder_fit.cpp, which know Eigen.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <type_traits>

#include "collector/analytics/autoencoder.h"

namespace pingloom::collector::analytics {

constexpr auto kHiddenRows = static_cast<Eigen::Index>(Autoencoder::kHidden);
constexpr auto kCodeRows = static_cast<Eigen::Index>(Autoencoder::kCode);

// `Number` is float, or const float.
template <typename Number>
struct Layers {
  template <typename Plain>
  using View = Eigen::Map<std::conditional_t<std::is_const_v<Number>, const Plain, Plain>>;

  Layers(Number* weights, std::size_t slots)
      : width(static_cast<Eigen::Index>(slots)),
        in(weights, kHiddenRows, width),
        in_bias(in.data() + in.size(), kHiddenRows),
        narrow(in_bias.data() + in_bias.size(), kCodeRows, kHiddenRows),
        narrow_bias(narrow.data() + narrow.size(), kCodeRows),
        wide(narrow_bias.data() + narrow_bias.size(), kHiddenRows, kCodeRows),
        wide_bias(wide.data() + wide.size(), kHiddenRows),
        out(wide_bias.data() + wide_bias.size(), width, kHiddenRows),
        out_bias(out.data() + out.size(), width) {}

  Eigen::Index width;
  View<Eigen::MatrixXf> in;
  View<Eigen::VectorXf> in_bias;
  View<Eigen::MatrixXf> narrow;
  View<Eigen::VectorXf> narrow_bias;
  View<Eigen::MatrixXf> wide;
  View<Eigen::VectorXf> wide_bias;
  View<Eigen::MatrixXf> out;
  View<Eigen::VectorXf> out_bias;
};

}  // namespace pingloom::collector::analytics
