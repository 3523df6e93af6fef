// Counts the anomalies that a collector raises for an application whose histograms are stationary:
// the same distribution for the whole time, so each of them is false.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pingloom::bench {

struct Stationary {
  std::size_t histograms = 1;
  std::size_t samples = 24 * 3600;  // one a second
};

// Each histogram has log-normal values of a size, spread and rate of its own: 10 to 500 of them in
// a second, with Poisson's variance.
std::uint64_t falseAlarms(const Stationary& shape, std::uint64_t seed);

}  // namespace pingloom::bench
