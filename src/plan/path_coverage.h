// Computes how many flow labels use every path of a fabric that spreads packets over equal paths by
// a hash of the label. This is the coupon collector's problem, computed exactly: each label is an
// independent, uniform choice of a path. Pure functions; any thread.
#pragma once

#include <cstdint>

namespace pingloom::plan {

constexpr double kCoverage = 0.99;

// Returns the probability that `labels` labels use all of `paths` paths. REQUIRES: paths > 0.
double coverage(std::uint32_t labels, std::uint32_t paths);

// Returns the minimum number of labels that use all of `paths` paths with probability kCoverage.
// REQUIRES: 0 < paths <= 1024.
std::uint32_t labelsToCover(std::uint32_t paths);

// Returns the maximum number of paths, at least 1, all of which `labels` labels use with
// probability kCoverage. REQUIRES: labels > 0.
std::uint32_t pathsCovered(std::uint32_t labels);

}  // namespace pingloom::plan
