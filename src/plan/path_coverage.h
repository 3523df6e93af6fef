// How many flow labels it takes to use every path of a fabric that spreads packets over equal paths
// by a hash of the label: the coupon collector's problem, computed exactly. Each label is taken for
// an independent choice of one of the paths, all equally likely. Pure functions; any thread.
#pragma once

#include <cstdint>

namespace pingloom::plan {

constexpr double kCoverage = 0.99;

// The probability that `labels` labels use all of `paths` paths. REQUIRES: paths > 0.
double coverage(std::uint32_t labels, std::uint32_t paths);

// The fewest labels that use all of `paths` paths with probability kCoverage.
// REQUIRES: 0 < paths <= 1024.
std::uint32_t labelsToCover(std::uint32_t paths);

// The most paths that `labels` labels use all of with probability kCoverage; at least 1.
// REQUIRES: labels > 0.
std::uint32_t pathsCovered(std::uint32_t labels);

}  // namespace pingloom::plan
