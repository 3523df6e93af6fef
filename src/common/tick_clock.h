// A counter that provides timestamps: a NIC's clock, the kernel's, or this process's. A single tick
// has no meaning; the difference of two ticks of one counter is a duration. A plain value; any
// thread.
#pragma once

#include <cstdint>
#include <limits>

#include "common/time.h"
#include "common/vocabulary.h"

namespace pingloom {

// ISO C++ has no such type, but all supported compilers have it.
__extension__ using WideTicks = unsigned __int128;

class TickClock {
 public:
  // `kilohertz` are ticks per millisecond, above 0 (hca_core_clock). `mask` has all bits of the
  // counter set from bit 0 on (completion_timestamp_mask); beyond it the counter wraps to 0.
  constexpr TickClock(ClockSource source, std::uint64_t kilohertz, std::uint64_t mask)
      : source_(source), kilohertz_(kilohertz), mask_(mask) {}
  // Ticks are nanoseconds of CLOCK_REALTIME (kernel) or CLOCK_MONOTONIC (software).
  static constexpr TickClock nanoseconds(ClockSource source) { return {source, 1'000'000, ~0ULL}; }

  constexpr ClockSource source() const { return source_; }
  constexpr std::uint64_t kilohertz() const { return kilohertz_; }
  constexpr std::uint64_t mask() const { return mask_; }

  // Returns the time from `from` to `to`, modulo the counter's width. REQUIRES: `to` is later by
  // less than period().
  constexpr Nanos between(std::uint64_t from, std::uint64_t to) const {
    return inNanos((to - from) & mask_);
  }
  // Returns the time until the counter repeats, saturated at the largest Nanos.
  constexpr Nanos period() const { return inNanos(mask_); }

 private:
  constexpr Nanos inNanos(std::uint64_t ticks) const {
    const auto nanos = static_cast<WideTicks>(ticks) * 1'000'000 / kilohertz_;
    constexpr Nanos kMax = std::numeric_limits<Nanos>::max();
    return nanos > static_cast<std::uint64_t>(kMax) ? kMax : static_cast<Nanos>(nanos);
  }

  ClockSource source_;
  std::uint64_t kilohertz_;
  std::uint64_t mask_;
};

}  // namespace pingloom
