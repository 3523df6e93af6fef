// The position of a sample along a group's main direction of traffic: its load. Mean, scale and
// direction stay as they are set, so that a load means the same for hours. One thread; memory is
// taken at construction.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class MainDirection {
 public:
  // `unit` is how much of the load's standard deviation in the rows counts as 1.
  MainDirection(std::size_t slots, double unit)
      : unit_(unit), mean_(slots), scale_(slots), weights_(slots), row_(slots), next_(slots) {}

  // Sets them from rows with an element for each slot, by the power method. Slots that do not vary
  // have no part in it.
  void learn(std::span<const float> rows);
  double load(std::span<const double> sample) const;
  double unit() const { return unit_; }
  // A new slot has no part in it.
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive) { archive(mean_, scale_, weights_); }

 private:
  double unit_;
  std::vector<double> mean_;
  std::vector<double> scale_;       // 0 for a slot that does not vary
  std::vector<double> weights_;     // includes what makes the rows' standard deviation `unit`
  std::vector<double> row_, next_;  // for learn()
};

}  // namespace pingloom::collector::analytics
