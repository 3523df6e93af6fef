#include "collector/analytics/normalizer.h"

#include <algorithm>

namespace pingloom::collector::analytics {

Normalizer::Normalizer(std::size_t metrics, double half_life)
    : slowest_(1 - std::exp2(-1 / half_life)),
      samples_(metrics),
      mean_(metrics),
      variance_(metrics) {}

double Normalizer::scale(std::size_t metric) const {
  return std::max(std::sqrt(variance_[metric]), kFloor * std::abs(mean_[metric]));
}

void Normalizer::learn(std::span<const double> sample, const std::vector<bool>& ready) {
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    if (!ready[i]) continue;
    const double weight = std::max(slowest_, 1 / static_cast<double>(++samples_[i]));
    const bool settled = samples_[i] > kSettled;
    double apart = sample[i] - mean_[i];
    if (const double far = kFarthest * scale(i); settled && far > 0) {
      apart = std::clamp(apart, -far, far);
    }
    mean_[i] += weight * apart;
    variance_[i] = (1 - weight) * (variance_[i] + weight * apart * apart);
  }
}

void Normalizer::normalize(std::span<const double> sample, std::span<double> out) const {
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double apart = sample[i] - mean_[i];
    const double unit = scale(i);
    if (unit > 0) {
      out[i] = std::clamp(apart / unit, -kFarthest, kFarthest);
    } else {
      out[i] = apart == 0 ? 0 : std::copysign(kFarthest, apart);
    }
  }
}

std::size_t Normalizer::varying() const {
  const auto varies = [](double variance) { return variance > 0; };
  return static_cast<std::size_t>(std::count_if(variance_.begin(), variance_.end(), varies));
}

void Normalizer::rearrange(SlotOrigins from) {
  analytics::rearrange(samples_, from);
  analytics::rearrange(mean_, from);
  analytics::rearrange(variance_, from);
}

void Normalizer::clear() {
  std::fill(samples_.begin(), samples_.end(), 0);
  std::fill(mean_.begin(), mean_.end(), 0);
  std::fill(variance_.begin(), variance_.end(), 0);
}

}  // namespace pingloom::collector::analytics
