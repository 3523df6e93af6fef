#include "controller/history/codec/sample_buckets.h"

namespace pingloom::controller {

void SampleBuckets::clear() {
  buckets_.clear();
  single_ = true;
  times_.clear();
  ends_.clear();
  counts_.clear();
  current_ = 0;
  total_ = 0;
}

void SampleBuckets::add(std::uint16_t bucket, std::uint32_t times) {
  if (single_ && times != 1) {
    single_ = false;
    times_.assign(buckets_.size(), 1);
  }
  buckets_.push_back(bucket);
  if (!single_) times_.push_back(times);
  current_ += times;
}

std::span<std::uint16_t> SampleBuckets::addSingle(std::size_t count) {
  const std::size_t begin = buckets_.size();
  buckets_.resize(begin + count);
  if (!single_) times_.resize(begin + count, 1);
  current_ += count;
  return std::span(buckets_).subspan(begin);
}

void SampleBuckets::endPair() {
  ends_.push_back(buckets_.size());
  counts_.push_back(current_);
  total_ += current_;
  current_ = 0;
}

}  // namespace pingloom::controller
