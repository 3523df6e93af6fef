#include "collector/analytics/slot_presence.h"

#include "collector/analytics/normalizer.h"

namespace pingloom::collector::analytics {

SlotPresence::Sample SlotPresence::observe(std::span<const double> sample) {
  auto result = Sample::kComplete;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.changed = false;
    const bool missing = !usable(sample[i]);
    if (missing == slot.left_out) {
      slot.contrary = 0;
      continue;
    }
    if (missing && result == Sample::kComplete) result = Sample::kIncomplete;
    if (++slot.contrary < kPatience) continue;
    slot = {.contrary = 0, .left_out = missing, .changed = true};
    result = Sample::kChanged;
  }
  return result;
}

}  // namespace pingloom::collector::analytics
