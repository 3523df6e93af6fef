#include "common/distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/histogram.h"

namespace pingloom {
namespace {

std::uint64_t saturatingAdd(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

// Has room for the ten samples of an ordinary window, and fills the allocator's smallest suitable
// size.
constexpr std::size_t kFirstSamples = 14;

constexpr std::array<std::uint64_t, 3> kPercents = {50, 95, 99};

}  // namespace

Summary summarizeSorted(std::span<const std::uint32_t> sorted) {
  Summary made;
  if (sorted.empty()) return made;
  made.count = sorted.size();
  made.min = sorted.front();
  made.max = sorted.back();
  std::uint64_t sum = 0;
  for (const std::uint32_t sample : sorted) sum += sample;
  made.mean = sum / made.count;
  made.p50 = sorted[nearestRank(50, made.count) - 1];
  made.p95 = sorted[nearestRank(95, made.count) - 1];
  made.p99 = sorted[nearestRank(99, made.count) - 1];
  return made;
}

void Distribution::add(std::uint64_t value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ = saturatingAdd(sum_, value);
  ++count_;
  if (exact()) {
    if (samples_.size() < kExactSamples && value <= std::numeric_limits<std::uint32_t>::max()) {
      if (samples_.capacity() == 0) samples_.reserve(kFirstSamples);
      samples_.push_back(static_cast<std::uint32_t>(value));
      return;
    }
    becomeBuckets();
  }
  addToBucket(histogram::bucketOf(value), 1);
}

void Distribution::addAscending(std::span<const std::uint64_t> values) {
  if (values.empty()) return;
  if (!exact() || samples_.size() + values.size() > kExactSamples ||
      values.back() > std::numeric_limits<std::uint32_t>::max()) {
    for (const std::uint64_t value : values) add(value);
    return;
  }
  min_ = count_ == 0 ? values.front() : std::min(min_, values.front());
  max_ = std::max(max_, values.back());
  sum_ = saturatingAdd(sum_, std::accumulate(values.begin(), values.end(), std::uint64_t{0}));
  count_ += values.size();
  if (samples_.capacity() == 0) samples_.reserve(std::max(kFirstSamples, values.size()));
  for (const std::uint64_t value : values) samples_.push_back(static_cast<std::uint32_t>(value));
}

void Distribution::merge(const Distribution& other) {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ = saturatingAdd(sum_, other.sum_);
  count_ += other.count_;
  if (exact() && other.exact() && samples_.size() + other.samples_.size() <= kExactSamples) {
    samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
    return;
  }
  if (exact()) becomeBuckets();
  for (const std::uint32_t sample : other.samples_) addToBucket(histogram::bucketOf(sample), 1);
  for (const auto& [bucket, times] : other.buckets_) addToBucket(bucket, times);
}

void Distribution::clear() {
  count_ = sum_ = min_ = max_ = 0;
  samples_.clear();
  buckets_.clear();
}

void Distribution::becomeBuckets() {
  for (const std::uint32_t sample : samples_) addToBucket(histogram::bucketOf(sample), 1);
  samples_.clear();
}

void Distribution::addToBucket(std::uint32_t bucket, std::uint32_t times) {
  auto at =
      std::lower_bound(buckets_.begin(), buckets_.end(), bucket,
                       [](const Bucket& have, std::uint32_t want) { return have.first < want; });
  if (at != buckets_.end() && at->first == bucket) {
    at->second += times;
  } else {
    buckets_.insert(at, {static_cast<std::uint16_t>(bucket), times});
  }
}

Summary Distribution::summary() const {
  Summary made{count_, min_, 0, 0, 0, 0, max_};
  if (count_ == 0) return made;
  made.mean = sum_ / count_;
  if (exact()) {
    std::array<std::uint32_t, kExactSamples> sorted;
    const auto end = std::copy(samples_.begin(), samples_.end(), sorted.begin());
    std::sort(sorted.begin(), end);
    return summarizeSorted({sorted.data(), samples_.size()});
  }
  std::array<std::uint64_t, 3> quantiles{};
  std::uint64_t seen = 0;
  std::size_t next = 0;
  for (const auto& [bucket, times] : buckets_) {
    seen += times;
    while (next < 3 && seen >= nearestRank(kPercents[next], count_)) {
      quantiles[next++] = std::clamp(histogram::bucketMiddle(bucket), min_, max_);
    }
  }
  made.p50 = quantiles[0];
  made.p95 = quantiles[1];
  made.p99 = quantiles[2];
  return made;
}

Distribution Distribution::fromSamples(std::vector<std::uint32_t> samples) {
  Distribution made;
  if (samples.empty()) return made;
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  made.min_ = *low;
  made.max_ = *high;
  made.count_ = samples.size();
  for (const std::uint32_t sample : samples) made.sum_ += sample;
  made.samples_ = std::move(samples);
  return made;
}

Distribution Distribution::fromBuckets(std::vector<Bucket> buckets, std::uint64_t sum,
                                       std::uint64_t min, std::uint64_t max) {
  Distribution made;
  for (const auto& [bucket, times] : buckets) made.count_ += times;
  made.sum_ = sum;
  made.min_ = min;
  made.max_ = max;
  made.buckets_ = std::move(buckets);
  return made;
}

}  // namespace pingloom
