// Tracks which slots of a group have values. A sample with a missing value is skipped, because its
// other values cannot be judged without it. A slot without values for long must not blind the
// group, so it is left out until it has had values for as long. One thread; memory is allocated at
// construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class SlotPresence {
 public:
  static constexpr std::uint16_t kPatience = 60;  // samples

  enum class Sample : std::uint8_t {
    kComplete,    // all slots have values except for those left out
    kIncomplete,  // the sample has to be skipped
    kChanged,     // the set of slots that are left out has changed
  };

  explicit SlotPresence(std::size_t slots) : slots_(slots) {}

  // Takes a sample in which missing values are not usable() (see normalizer.h).
  Sample observe(std::span<const double> sample);
  bool leftOut(std::size_t slot) const { return slots_[slot].left_out; }
  // Whether the last sample changed it.
  bool changed(std::size_t slot) const { return slots_[slot].changed; }
  void rearrange(SlotOrigins from) { analytics::rearrange(slots_, from); }
  void state(StateArchive& archive) { archive(slots_); }

 private:
  struct Slot {
    std::uint16_t contrary = 0;  // successive samples that contradict left_out
    bool left_out = false;
    bool changed = false;

    void state(StateArchive& archive) { archive(contrary, left_out); }
  };
  std::vector<Slot> slots_;
};

}  // namespace pingloom::collector::analytics
