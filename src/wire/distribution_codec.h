// Distribution <-> SampleSet (control.proto). Any thread; no state.
#pragma once

#include "common/distribution.h"
#include "common/error.h"
#include "control.pb.h"

namespace pingloom::wire {

void encode(const Distribution& distribution, SampleSet& out);
// The bytes come from outside: anything out of bounds or order is refused.
Result<Distribution> decode(const SampleSet& set);
// decode(set)->summary(), without building the distribution where the set holds samples.
Result<Summary> decodeSummary(const SampleSet& set);

}  // namespace pingloom::wire
