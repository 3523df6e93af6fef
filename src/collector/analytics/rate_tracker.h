// Converts slots of metric pages to comparable numbers: a gauge stays as it is, a counter becomes
// its rate per second since the previous sample, and so does a sum. One thread; memory is allocated
// at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/time.h"

namespace pingloom::collector::analytics {

enum class SlotKind : std::uint8_t {
  kCounter,    // an unsigned number that only grows; a histogram's slots are counters too
  kGauge,      // the bits of an IEEE 754 double
  kFractions,  // the bits of a double that only grows
  kSum,        // the bits of a double that grows; it may fall, because values may be negative
};

class RateTracker {
 public:
  explicit RateTracker(std::vector<SlotKind> kinds);

  // Converts the slots read at read_mono. An unknown number is NaN: a counter's rate in its first
  // sample, when it is lower than before (its owner restarted at an unknown time), and when time
  // did not advance, in which case the sample is ignored. REQUIRES: slots and sample have one
  // element for each kind.
  void update(Nanos read_mono, std::span<const std::uint64_t> slots, std::span<double> sample);
  // Treats the next sample as the first, because the slots have another owner.
  void restart() { last_mono_.reset(); }

  std::size_t slots() const { return kinds_.size(); }
  // Counts how often a counter was lower than before.
  std::uint64_t resets() const { return resets_; }

 private:
  std::vector<SlotKind> kinds_;
  std::vector<std::uint64_t> last_;
  std::optional<Nanos> last_mono_;
  std::uint64_t resets_ = 0;
};

}  // namespace pingloom::collector::analytics
