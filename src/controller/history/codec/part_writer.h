// Writes the section of a block that holds one part's samples, in one of three forms: few samples
// one by one, many samples as runs of equal steps, or a minute's four percentiles.
// docs/history-format.md has the layout. Any thread; no state.
#pragma once

#include <span>

#include "common/distribution.h"
#include "controller/history/codec/columns.h"
#include "controller/history/codec/sample_buckets.h"

namespace pingloom::controller {

// Writes nothing if no pair has samples.
void encodeSamples(const SampleBuckets& samples, unsigned merged, ColumnWriter& out);
// Writes median, 95th and 99th percentile and maximum. `merged` is the precision of the median, and
// `tail` that of the others. REQUIRES: tail >= merged.
void encodePercentiles(std::span<const Summary> pairs, unsigned merged, unsigned tail,
                       ColumnWriter& out);

}  // namespace pingloom::controller
