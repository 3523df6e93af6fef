// Slots of metric pages as numbers that can be compared: a gauge as it is, a counter as its rate
// per second since the sample before. One thread; memory is taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/time.h"

namespace pingloom::collector::analytics {

enum class SlotKind : std::uint8_t {
  kCounter,  // an unsigned number that only grows; a histogram's slots are some, too
  kGauge,    // the bits of an IEEE 754 double
};

class RateTracker {
 public:
  explicit RateTracker(std::vector<SlotKind> kinds);

  // Slots as they were read at read_mono. A number that there is none of is NaN: a counter's rate
  // in its first sample, where it is lower than before (its owner began again, at an unknown time
  // since), and where time did not go on, in which case the sample is not remembered either.
  // REQUIRES: slots and sample have as many elements as there are kinds.
  void update(Nanos read_mono, std::span<const std::uint64_t> slots, std::span<double> sample);
  // The next sample is the first one again: the slots have another owner.
  void restart() { last_mono_.reset(); }

  std::size_t slots() const { return kinds_.size(); }
  // How many counters were found lower than before.
  std::uint64_t resets() const { return resets_; }

 private:
  std::vector<SlotKind> kinds_;
  std::vector<std::uint64_t> last_;
  std::optional<Nanos> last_mono_;
  std::uint64_t resets_ = 0;
};

}  // namespace pingloom::collector::analytics
