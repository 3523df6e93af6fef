#include "collector/analytics/load_spread.h"

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {

namespace {

constexpr double kFarthestLoad = (LoadSpread::kBins - 1) / 2.0;

}  // namespace

LoadSpread::LoadSpread(std::size_t metrics)
    : metrics_(metrics),
      counts_(kBins),
      seen_(kBins * metrics),
      mean_(kBins * metrics),
      variance_(kBins * metrics) {}

void LoadSpread::place(double load) {
  // State that was read from a damaged file may make it no number.
  const double known = std::isnan(load) ? 0 : std::clamp(load, -kFarthestLoad, kFarthestLoad);
  const double position = known + kFarthestLoad;
  bin_ = std::min(static_cast<std::size_t>(position), kBins - 2);
  share_ = static_cast<float>(position - static_cast<double>(bin_));
}

bool LoadSpread::known(float samples) const {
  return (1 - share_) * counts_[bin_] + share_ * counts_[bin_ + 1] >= samples;
}

bool LoadSpread::knows(std::size_t metric, float samples) const {
  const std::size_t low = bin_ * metrics_ + metric;
  return (1 - share_) * seen_[low] + share_ * seen_[low + metrics_] >= samples;
}

double LoadSpread::deviation(std::size_t metric, double left) const {
  return (left - between(mean_, metric)) / size(metric);
}

double LoadSpread::size(std::size_t metric) const {
  return std::max(std::sqrt(between(variance_, metric)), kLeast);
}

float LoadSpread::between(const std::vector<float>& values, std::size_t metric) const {
  const std::size_t low = bin_ * metrics_ + metric;
  const std::size_t high = low + metrics_;
  // A bin without samples says nothing, and the other one stands for both.
  const float share = seen_[low] == 0 ? 1 : seen_[high] == 0 ? 0 : share_;
  return (1 - share) * values[low] + share * values[high];
}

float LoadSpread::certainty(std::size_t metric, float doubt) const {
  const std::size_t low = bin_ * metrics_ + metric;
  const float seen = (1 - share_) * seen_[low] + share_ * seen_[low + metrics_];
  return std::sqrt(seen / std::max(seen + doubt * kAlike, 1.0F));
}

void LoadSpread::learn(std::span<const double> left, std::span<const std::uint32_t> ages) {
  for (std::size_t i = 0; i < metrics_; ++i) {
    if (ages[i] != 1) continue;
    for (std::size_t bin = 0; bin < kBins; ++bin) seen_[bin * metrics_ + i] = 0;
  }
  learnBin(bin_, 1 - share_, left);
  learnBin(bin_ + 1, share_, left);
}

void LoadSpread::learnBin(std::size_t bin, float share, std::span<const double> left) {
  if (share <= 0) return;
  counts_[bin] += share;
  float* const seen = seen_.data() + bin * metrics_;
  float* const mean = mean_.data() + bin * metrics_;
  float* const variance = variance_.data() + bin * metrics_;
  for (std::size_t i = 0; i < metrics_; ++i) {
    seen[i] += share;
    const float weight = share * std::max(1 / kMemory, 1 / seen[i]);
    const float apart = static_cast<float>(left[i]) - mean[i];
    mean[i] += weight * apart;
    variance[i] = (1 - weight) * (variance[i] + weight * apart * apart);
  }
}

void LoadSpread::rearrange(SlotOrigins from) {
  metrics_ = from.size();
  rearrangeRows(seen_, kBins, from);
  rearrangeRows(mean_, kBins, from);
  rearrangeRows(variance_, kBins, from);
}

void LoadSpread::clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  std::fill(seen_.begin(), seen_.end(), 0);
  std::fill(mean_.begin(), mean_.end(), 0);
  std::fill(variance_.begin(), variance_.end(), 0);
}

}  // namespace pingloom::collector::analytics
