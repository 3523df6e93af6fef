// A Prometheus native histogram: counts in buckets whose bounds are powers of 2^(2^-schema). Plain
// values.
//
// The zero bucket is the histogram's first one, which begins at 0. Each other bucket is counted in
// the one native bucket that has its geometric mean, so counts never fall. A quantile is then off
// by no more than the histogram's own buckets are wide, if the schema is that of
// nativeSchema(). What is above the last bound is counted in the native bucket above it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/metrics_writer.h"
#include "pages/schema.h"

namespace pingloom::collector {

struct NativeBuckets {
  double zero_threshold = 0;
  std::uint64_t zero_count = 0;
  std::vector<std::pair<std::int64_t, std::uint64_t>> counts;  // by index, ascending, none is 0
};

// Returns the schema that represents histograms of a shape and unit: the same buckets if these
// double and begin at a power of two, otherwise buckets at most as wide as the square root of the
// shape's widest one.
int nativeSchema(pingloom_histogram_shape shape, double unit);

// REQUIRES: the histogram has a schema.
NativeBuckets nativeBuckets(const MetricHistogram& histogram);

}  // namespace pingloom::collector
