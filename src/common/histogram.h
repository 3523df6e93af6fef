// Log-linear buckets: exact below 32, then 32 buckets to each power of two (HdrHistogram's scheme),
// so a bucket is at most 1/32 of its value wide and its middle at most 1.6 % off. Buckets of two
// histograms merge by adding their counts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pingloom::histogram {

constexpr std::uint32_t kBuckets =
    1152;  // up to 2^40 ns, 18 minutes; larger values are counted in the last bucket

constexpr std::uint32_t kSubBits = 5;  // a power of two has 2^kSubBits buckets
constexpr std::uint32_t kSubBuckets = 1U << kSubBits;

// Inline, because the controller calls it for every sample of the mesh.
constexpr std::uint32_t bucketOf(std::uint64_t value) {
  if (value < kSubBuckets) return static_cast<std::uint32_t>(value);
  const auto octave = static_cast<std::uint32_t>(std::bit_width(value)) - 1;
  const std::uint32_t shift = octave - kSubBits;
  const auto sub = static_cast<std::uint32_t>(value >> shift) & (kSubBuckets - 1);
  return std::min((octave - kSubBits + 1) * kSubBuckets + sub, kBuckets - 1);
}
// Returns the value that represents a bucket, which is its middle.
std::uint64_t bucketMiddle(std::uint32_t bucket);

}  // namespace pingloom::histogram
