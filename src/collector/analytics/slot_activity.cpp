#include "collector/analytics/slot_activity.h"

#include <algorithm>
#include <limits>

namespace pingloom::collector::analytics {

namespace {

constexpr std::uint32_t kOld = std::numeric_limits<std::uint32_t>::max();
constexpr double kOftenMoving = 0.5;   // other slots keep their value for all kinds of times
constexpr std::uint32_t kUnusual = 4;  // a run of so many times the longest is unusual

}  // namespace

SlotActivity::SlotActivity(std::size_t slots) : slots_(slots), ages_(slots) {}

void SlotActivity::observe(std::span<const double> sample, bool settled, bool quiet) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const bool moved = slot.samples > 0 && sample[i] != slot.last;
    if (slot.samples < kMemory) ++slot.samples;
    const double weight = 1 / static_cast<double>(slot.samples);
    slot.last = sample[i];
    slot.moving += static_cast<float>(weight * ((moved ? 1 : 0) - slot.moving));
    if (!moved) {
      ++slot.run;
    } else {
      if (quiet && flat(i) <= 1) slot.longest = std::max(slot.longest, slot.run);
      slot.run = 0;
    }
    const bool active = slot.moving >= (slot.active ? kIdle : kActive);
    if (active != slot.active) ages_[i] = 0;
    slot.active = active;
    if (active && settled && ages_[i] < kOld) ++ages_[i];
  }
}

void SlotActivity::settle(std::uint32_t samples) {
  const auto least = std::min(samples, static_cast<std::uint32_t>(kMemory));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].active && slots_[i].samples >= least) ages_[i] = kOld;
  }
}

double SlotActivity::flat(std::size_t slot) const {
  const Slot& one = slots_[slot];
  if (!one.active || one.moving < kOftenMoving) return 0;
  return static_cast<double>(one.run) / std::max(kStuck, kUnusual * one.longest);
}

void SlotActivity::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot());
  std::fill(ages_.begin(), ages_.end(), 0);
}

void SlotActivity::rearrange(SlotOrigins from) {
  analytics::rearrange(slots_, from);
  analytics::rearrange(ages_, from);
}

}  // namespace pingloom::collector::analytics
