// Converts Distribution from and to SampleSet (control.proto). Any thread; no state.
#pragma once

#include "common/distribution.h"
#include "common/error.h"
#include "control.pb.h"
#include "wire/row_view.h"

namespace pingloom::wire {

void encode(const Distribution& distribution, SampleSet& out);
// The bytes come from outside: values that are out of bounds or out of order are refused.
Result<Distribution> decode(const SampleSetView& set);
// Returns decode(set)->summary(), without building the distribution if the set contains samples.
Result<Summary> decodeSummary(const SampleSetView& set);

}  // namespace pingloom::wire
