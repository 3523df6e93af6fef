// Which slots of a group have values. A sample that lacks one is of no use, since what the others
// explain of it cannot be told; but a slot that lacks its value for long must not blind the group:
// it is left out, until it has had values for as long. One thread; memory is taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pingloom::collector::analytics {

class SlotPresence {
 public:
  static constexpr std::uint16_t kPatience = 60;  // samples

  enum class Sample : std::uint8_t {
    kComplete,    // all slots have values but for those left out
    kIncomplete,  // to be skipped
    kChanged,     // from now on another set of slots is left out
  };

  explicit SlotPresence(std::size_t slots) : slots_(slots) {}

  // A sample whose missing values are not usable() (see normalizer.h).
  Sample observe(std::span<const double> sample);
  bool leftOut(std::size_t slot) const { return slots_[slot].left_out; }
  // How many are left in.
  std::size_t present() const { return slots_.size() - left_out_; }

 private:
  struct Slot {
    std::uint16_t contrary = 0;  // successive samples that speak against left_out
    bool left_out = false;
  };
  std::vector<Slot> slots_;
  std::size_t left_out_ = 0;
};

}  // namespace pingloom::collector::analytics
