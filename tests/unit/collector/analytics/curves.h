// Samples of metrics that are curves over one load, which an autoencoder follows and directions do
// not.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace pingloom::collector::analytics {

class Curves {
 public:
  explicit Curves(std::size_t metrics) : metrics_(metrics) {}
  std::vector<double> next() {
    walk_ = 0.99 * walk_ + 0.14 * normal_(random_);
    const double load = 1 / (1 + std::exp(-walk_));
    std::vector<double> sample(metrics_);
    for (std::size_t m = 0; m < metrics_; ++m) {
      const double curve = m % 3 == 0 ? load : m % 3 == 1 ? 1 / (1.1 - load) : std::sin(5 * load);
      sample[m] = 10 + curve + 0.02 * normal_(random_);
    }
    return sample;
  }

 private:
  std::size_t metrics_;
  std::mt19937 random_{6};
  std::normal_distribution<double> normal_;
  double walk_ = 0;
};

}  // namespace pingloom::collector::analytics
