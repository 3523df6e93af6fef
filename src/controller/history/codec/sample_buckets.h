// The samples of one part (network, responder, prober or rtt) of many pairs while a block is made
// of them: each as its bucket of the histogram (common/histogram.h), because steps are whole
// buckets and a bucket takes a fraction of a sample's memory. One thread per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pingloom::controller {

class SampleBuckets {
 public:
  void clear();
  // Adds samples to the current pair. REQUIRES: times > 0, and the buckets of a pair ascend.
  void add(std::uint16_t bucket, std::uint32_t times);
  // Adds single samples to the current pair, whose buckets the caller writes to the result. It is
  // valid until the next call.
  std::span<std::uint16_t> addSingle(std::size_t count);
  void endPair();

  std::size_t pairs() const { return counts_.size(); }
  std::uint64_t total() const { return total_; }  // samples
  // How many samples each pair has.
  const std::vector<std::uint64_t>& counts() const { return counts_; }

  // The buckets of all pairs, one after the other. Each stands for one sample if single().
  std::span<const std::uint16_t> buckets() const { return buckets_; }
  bool single() const { return single_; }
  // The position behind a pair's buckets.
  std::size_t endOf(std::size_t pair) const { return ends_[pair]; }
  // How many samples the bucket at this position has.
  std::uint32_t timesAt(std::size_t position) const { return single() ? 1 : times_[position]; }

 private:
  std::vector<std::uint16_t> buckets_;
  bool single_ = true;                // each bucket has one sample, and `times_` is empty
  std::vector<std::uint32_t> times_;  // of each bucket
  std::vector<std::size_t> ends_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t current_ = 0;  // samples of the current pair
  std::uint64_t total_ = 0;
};

}  // namespace pingloom::controller
