#include "collector/analytics/main_direction.h"

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {

namespace {

constexpr int kRounds = 30;  // of the power method
// One metric that is far off must not look like another load.
constexpr double kFarthestMetric = 4;

}  // namespace

double MainDirection::load(std::span<const double> sample) const {
  double sum = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (scale_[i] == 0) continue;
    sum += weights_[i] *
           std::clamp((sample[i] - mean_[i]) / scale_[i], -kFarthestMetric, kFarthestMetric);
  }
  return sum;
}

void MainDirection::rearrange(SlotOrigins from) {
  for (auto* values : {&mean_, &scale_, &weights_}) analytics::rearrange(*values, from);
  row_.resize(from.size());
  next_.resize(from.size());
}

void MainDirection::learn(std::span<const float> rows) {
  const std::size_t slots = weights_.size();
  const std::size_t count = rows.size() / slots;
  std::fill(mean_.begin(), mean_.end(), 0);
  std::fill(scale_.begin(), scale_.end(), 0);
  std::fill(weights_.begin(), weights_.end(), 0);
  if (count < 2) return;
  const double share = 1 / static_cast<double>(count);
  for (std::size_t r = 0; r < rows.size(); ++r) mean_[r % slots] += share * rows[r];
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double apart = rows[r] - mean_[r % slots];
    scale_[r % slots] += share * apart * apart;
  }
  for (std::size_t i = 0; i < slots; ++i) {
    const double deviation = std::sqrt(scale_[i]);
    scale_[i] = deviation > 1e-6 * std::abs(mean_[i]) ? deviation : 0;
    weights_[i] = scale_[i] > 0 ? 1 : 0;
  }
  double variance = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::fill(next_.begin(), next_.end(), 0);
    variance = 0;
    for (std::size_t r = 0; r < count; ++r) {
      double along = 0;
      for (std::size_t i = 0; i < slots; ++i) {
        const double apart = scale_[i] > 0 ? (rows[r * slots + i] - mean_[i]) / scale_[i] : 0;
        row_[i] = std::clamp(apart, -kFarthestMetric, kFarthestMetric);
        along += weights_[i] * row_[i];
      }
      variance += share * along * along;
      for (std::size_t i = 0; i < slots; ++i) next_[i] += along * row_[i];
    }
    double length = 0;
    for (const double weight : next_) length += weight * weight;
    if (length == 0) break;
    // The last round keeps the direction whose variance it has computed.
    if (round + 1 == kRounds) break;
    for (std::size_t i = 0; i < slots; ++i) weights_[i] = next_[i] / std::sqrt(length);
  }
  if (variance <= 0) return;
  for (double& weight : weights_) weight /= unit_ * std::sqrt(variance);
}

}  // namespace pingloom::collector::analytics
