// The flow labels by which a pair's PINGs take several paths, and how many of them use every path
// of a fabric that spreads packets over equal paths by a hash of the label. The latter is the
// coupon collector's problem, computed exactly: each label is an independent, uniform choice of a
// path. Pure functions; any thread.
#pragma once

#include <cstdint>

namespace pingloom::plan {

// Returns the label of a pair's k-th path. 0 stands for a pair of one path, which has the label
// that the device's configuration gives.
constexpr std::uint32_t flowLabelOf(std::uint32_t path) { return path; }

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
