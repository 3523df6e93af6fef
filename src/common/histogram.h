// Log-linear buckets: exact below 32, then 32 buckets to each power of two (HdrHistogram's scheme),
// so a bucket is at most 1/32 of its value wide and its middle at most 1.6 % off. Buckets of two
// histograms merge by adding their counts.
#pragma once

#include <cstdint>

namespace pingloom::histogram {

constexpr std::uint32_t kBuckets =
    1152;  // up to 2^40 ns, 18 minutes; larger values are counted in the last bucket

std::uint32_t bucketOf(std::uint64_t value);
// Returns the value that represents a bucket, which is its middle.
std::uint64_t bucketMiddle(std::uint32_t bucket);

}  // namespace pingloom::histogram
