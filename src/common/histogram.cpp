#include "common/histogram.h"

namespace pingloom::histogram {

std::uint64_t bucketMiddle(std::uint32_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const std::uint32_t shift = bucket / kSubBuckets - 1;
  const std::uint64_t low = (std::uint64_t{kSubBuckets} + bucket % kSubBuckets) << shift;
  return low + ((std::uint64_t{1} << shift) >> 1);
}

}  // namespace pingloom::histogram
