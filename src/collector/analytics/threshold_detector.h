// Checks limits that an operator has set: a metric's value, or a counter's rate, above or below a
// number in a given number of the last samples. One thread; memory is allocated at construction.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "collector/analytics/hysteresis.h"
#include "common/error.h"

namespace pingloom::collector::analytics {

struct ThresholdRule {
  enum class Of : std::uint8_t { kValue, kRate };
  enum class Side : std::uint8_t { kAbove, kBelow };

  std::string metric;    // its name for people
  std::size_t slot = 0;  // index in the group's samples
  Of of = Of::kValue;
  Side side = Side::kAbove;
  double limit = 0;  // a value equal to it is within the limit
  HysteresisSettings hysteresis;
};

struct ThresholdVerdict {
  const ThresholdRule* rule = nullptr;                      // the metric and its limit
  double value = std::numeric_limits<double>::quiet_NaN();  // the latest known value
  bool anomalous = false;
  bool changed = false;  // whether it changed with this sample, which sends an event
};

class ThresholdDetector {
 public:
  // The error names the rule's metric.
  static Status check(std::span<const ThresholdRule> rules, std::size_t slots);

  // REQUIRES: check(rules, slots).
  explicit ThresholdDetector(std::vector<ThresholdRule> rules);
  // Verdicts point to this detector's rules.
  ThresholdDetector(const ThresholdDetector&) = delete;
  ThresholdDetector& operator=(const ThresholdDetector&) = delete;
  ThresholdDetector(ThresholdDetector&&) = default;
  ThresholdDetector& operator=(ThresholdDetector&&) = default;

  // Returns a verdict for each rule in order, valid until the next call. A value that is not finite
  // is missing and leaves the verdicts of its rules unchanged. `values` come from the pages and
  // `rates` from RateTracker; both have an element for each slot.
  std::span<const ThresholdVerdict> observe(std::span<const double> values,
                                            std::span<const double> rates);
  bool anomalous() const;  // whether any rule is violated

 private:
  std::vector<ThresholdRule> rules_;
  std::vector<Hysteresis> states_;
  std::vector<ThresholdVerdict> verdicts_;
};

}  // namespace pingloom::collector::analytics
