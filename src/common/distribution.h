// The distribution of one quantity over a window: exact while it has few samples, sparse log-linear
// buckets (histogram.h) after that, so that ten thousand pairs fit in an agent. Mergeable: a rack's
// p99 is computed from its pairs' distributions, never averaged from their p99s. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pingloom {

// Nanoseconds. Percentiles are nearest-rank (the smallest value that at least q of the samples do
// not exceed).
struct Summary {
  std::uint64_t count = 0;
  std::uint64_t min = 0;
  std::uint64_t mean = 0;  // rounded down
  std::uint64_t p50 = 0;
  std::uint64_t p95 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
};

// Returns which of `count` samples in ascending order, counted from 1, is the percentile.
constexpr std::uint64_t nearestRank(std::uint64_t percent, std::uint64_t count) {
  const std::uint64_t rank = (count * percent + 99) / 100;
  return rank == 0 ? 1 : rank;
}

// Summarizes samples in ascending order.
Summary summarizeSorted(std::span<const std::uint32_t> sorted);

class Distribution {
 public:
  static constexpr std::size_t kExactSamples = 64;
  using Bucket = std::pair<std::uint16_t, std::uint32_t>;  // bucket number, count

  void add(std::uint64_t value);
  // Adds all of them, which is faster than one by one. REQUIRES: they are in ascending order.
  void addAscending(std::span<const std::uint64_t> values);
  void merge(const Distribution& other);
  void clear();  // keeps the memory

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }  // saturates
  std::uint64_t min() const { return min_; }
  std::uint64_t max() const { return max_; }
  bool exact() const { return buckets_.empty(); }
  const std::vector<std::uint32_t>& samples() const {
    return samples_;
  }  // unordered; empty unless exact()
  const std::vector<Bucket>& buckets() const { return buckets_; }  // ascending; empty if exact()

  Summary summary() const;

  // Rebuilds a distribution from its parts (wire/distribution_codec.h). REQUIRES: buckets are
  // ascending, counts are > 0, and sum, min and max match them.
  static Distribution fromSamples(std::vector<std::uint32_t> samples);
  static Distribution fromBuckets(std::vector<Bucket> buckets, std::uint64_t sum, std::uint64_t min,
                                  std::uint64_t max);

 private:
  void addToBucket(std::uint32_t bucket, std::uint32_t times);
  void becomeBuckets();

  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
  std::vector<std::uint32_t> samples_;  // a sample above 2^32-1 ns (4.29 s) turns it into buckets
  std::vector<Bucket> buckets_;
};

}  // namespace pingloom
