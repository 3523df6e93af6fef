// Textbook detectors to compare with. Each gives a score for every sample, and leaves the limit to
// whoever evaluates it. They need a time for which they only learn.
#pragma once

#include "evaluation.h"

namespace pingloom::bench {

// The largest deviation of a metric from its mean of the last hours, in standard deviations.
Trace zScores(const Run& run);
// The same for values that are smoothed over 25 samples.
Trace smoothedScores(const Run& run);
// The squared length of what the eight main directions of the last 24 hours (or of what there is of
// them) leave of a sample; they are computed again every hour.
Trace windowPca(const Run& run);

}  // namespace pingloom::bench
