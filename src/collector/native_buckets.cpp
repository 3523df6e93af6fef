#include "collector/native_buckets.h"

#include <cmath>

namespace pingloom::collector {
namespace {

// Bucket i ends at 2^(i * 2^-schema) and includes that.
std::int64_t indexOf(double value, int schema) {
  return static_cast<std::int64_t>(std::ceil(std::ldexp(std::log2(value), schema)));
}

bool isPowerOfTwo(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5;
}

}  // namespace

int nativeSchema(pingloom_histogram_shape shape, double unit) {
  if (shape.precision == 0 && isPowerOfTwo(unit)) return 0;
  // The widest bucket ends at (1 + 2^-precision) times its beginning.
  return shape.precision + 1;
}

NativeBuckets nativeBuckets(const MetricHistogram& histogram) {
  NativeBuckets made;
  const std::size_t last = histogram.buckets.size() - 1;
  made.zero_threshold = histogram.upper(0);
  made.zero_count = histogram.buckets[0];
  for (std::size_t i = 1; i <= last; ++i) {
    if (histogram.buckets[i] == 0) continue;
    const double lower = histogram.upper(i - 1);
    const std::int64_t index = i == last ? indexOf(lower, *histogram.native_schema) + 1
                                         : indexOf(std::sqrt(lower) * std::sqrt(histogram.upper(i)),
                                                   *histogram.native_schema);
    const bool same = !made.counts.empty() && made.counts.back().first == index;
    if (!same) made.counts.emplace_back(index, 0);
    std::uint64_t& count = made.counts.back().second;
    if (__builtin_add_overflow(count, histogram.buckets[i], &count)) count = UINT64_MAX;
  }
  return made;
}

}  // namespace pingloom::collector
