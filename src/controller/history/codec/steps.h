// Durations in steps. A step is 2^merged buckets of the project's histogram, so that its middle is
// off by at most 2^merged / 64 of the duration (2^merged / 2 ns for the shortest). Every step lies
// within one step of every coarser kind. Any thread may use it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/histogram.h"

namespace pingloom::controller {

constexpr unsigned kMaxMerged = 5;  // one step for each power of two

constexpr std::uint32_t stepsOf(unsigned merged) { return histogram::kBuckets >> merged; }

inline std::uint32_t stepOf(std::uint64_t nanoseconds, unsigned merged) {
  return histogram::bucketOf(nanoseconds) >> merged;
}

// The middle of a step, for which stepOf() returns the step.
inline std::uint64_t middleOfStep(std::uint32_t step, unsigned merged) {
  const std::uint32_t first = step << merged;
  const std::uint32_t last = first + (1U << merged) - 1;
  return (histogram::bucketMiddle(first) + histogram::bucketMiddle(last)) / 2;
}

// The results of middleOfStep() for all steps.
const std::vector<std::uint64_t>& middlesOfSteps(unsigned merged);

}  // namespace pingloom::controller
