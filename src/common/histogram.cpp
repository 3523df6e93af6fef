#include "common/histogram.h"

#include <algorithm>
#include <bit>

namespace pingloom::histogram {
namespace {
constexpr std::uint32_t kSubBits = 5;
constexpr std::uint32_t kSubBuckets = 1U << kSubBits;
}  // namespace

std::uint32_t bucketOf(std::uint64_t value) {
  if (value < kSubBuckets) return static_cast<std::uint32_t>(value);
  const auto octave = static_cast<std::uint32_t>(std::bit_width(value)) - 1;
  const std::uint32_t shift = octave - kSubBits;
  const auto sub = static_cast<std::uint32_t>(value >> shift) & (kSubBuckets - 1);
  return std::min((octave - kSubBits + 1) * kSubBuckets + sub, kBuckets - 1);
}

std::uint64_t bucketMiddle(std::uint32_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const std::uint32_t shift = bucket / kSubBuckets - 1;
  const std::uint64_t low = (std::uint64_t{kSubBuckets} + bucket % kSubBuckets) << shift;
  return low + ((std::uint64_t{1} << shift) >> 1);
}

}  // namespace pingloom::histogram
