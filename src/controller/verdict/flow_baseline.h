// What is usual for one flow on one route: the network time of its windows while nothing was wrong.
// A value.
#pragma once

#include <cstdint>

#include "common/distribution.h"
#include "common/time.h"

namespace pingloom::controller {

// How many samples of a window are above what is usual, and by how much: the median of those that
// are above, or of all if none is.
struct Exceedance {
  std::uint32_t samples = 0;
  std::uint32_t above = 0;
  double excess_ns = 0;
};

class FlowBaseline {
 public:
  // The windows that are learned before any is judged.
  static constexpr std::uint8_t kLearned = 3;
  // A sample is above what is usual beyond the median and this, or four median deviations.
  static constexpr double kLeastExcess = 5000;  // nanoseconds

  // Takes a window once, by its index.
  void take(std::uint64_t window, const Summary& network);
  // The newest window that was taken. Nothing is above while the flow is being learned.
  const Exceedance& newest() const { return newest_; }

 private:
  void learn(const Summary& network, double weight);

  std::uint64_t window_ = UINT64_MAX;
  float usual_ = 0;      // median of a window, in nanoseconds
  float deviation_ = 0;  // median deviation of the samples below the median
  std::uint8_t learned_ = 0;
  Exceedance newest_;
};

// How many of the samples are above a value, as far as a summary tells it. The counts of samples
// between two known quantiles are taken to grow evenly.
std::uint32_t countAbove(const Summary& summary, double value);
// The value that this share of the samples is above, likewise.
double valueBelow(const Summary& summary, double share);

}  // namespace pingloom::controller
