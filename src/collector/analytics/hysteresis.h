// Derives a state from single observations: it is raised when `raise` of the last `window` were
// over the limit, and cleared when none of them was. One thread.
#pragma once

#include <bit>
#include <cstdint>

#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

struct HysteresisSettings {
  unsigned raise = 3;
  unsigned window = 5;  // also the number of quiet observations that clear it

  bool operator==(const HysteresisSettings&) const = default;
};

class Hysteresis {
 public:
  static constexpr unsigned kMaxWindow = 64;
  static constexpr bool valid(HysteresisSettings settings) {
    return settings.raise >= 1 && settings.raise <= settings.window &&
           settings.window <= kMaxWindow;
  }

  // REQUIRES: valid(settings).
  explicit Hysteresis(HysteresisSettings settings)
      : raise_(settings.raise), mask_(~std::uint64_t{0} >> (kMaxWindow - settings.window)) {}

  // Adds an observation and returns the state.
  bool add(bool over) {
    last_ = ((last_ << 1) | (over ? 1 : 0)) & mask_;
    raised_ = last_ != 0 && (raised_ || static_cast<unsigned>(std::popcount(last_)) >= raise_);
    return raised_;
  }
  bool raised() const { return raised_; }
  void clear() {
    last_ = 0;
    raised_ = false;
  }
  void state(StateArchive& archive) {
    archive(last_, raised_);
    archive.require((last_ & ~mask_) == 0);
  }

 private:
  unsigned raise_;
  std::uint64_t mask_;
  std::uint64_t last_ = 0;  // one bit each; the latest is the lowest
  bool raised_ = false;
};

}  // namespace pingloom::collector::analytics
