// Notices when this process did not run: a timer tick that comes late. An exchange that was under
// way meanwhile says nothing about the network. One thread; the time comes in as an argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/time.h"

namespace pingloom::probe {

// A tick that is late by more than kLate is a stall, from when it should have come until it came.
// Ticks only while something is under way (watchUntil), so that an idle agent sleeps.
// Bound: remembers the last kRemembered stalls.
class StallWatch {
 public:
  static constexpr Nanos kLate = 20 * kMillisecond;
  static constexpr std::size_t kRemembered = 16;

  explicit StallWatch(Nanos tick = 20 * kMillisecond) : tick_(tick) {}

  // Something is under way until then (an exchange's deadline, or a little after a packet came):
  // starts the ticks where they rest, or makes them last longer.
  void watchUntil(Nanos now, Nanos until);
  // When tick() must be called next; kNever while at rest.
  Nanos nextTick() const { return running_ ? expected_ : kNever; }
  // The event loop calls this first after every wake-up, with the time it woke up; earlier than
  // nextTick() does no harm. Rests by itself once watchUntil's time has passed.
  void tick(Nanos now);
  // A stall that the loop found out otherwise: a packet that lay in the socket for long.
  void observed(Nanos from_mono, Nanos to_mono);

  bool stalledDuring(Nanos from_mono, Nanos to_mono) const;
  std::uint64_t stalls() const { return stalls_; }

 private:
  struct Stall {
    Nanos from;
    Nanos to;
  };
  Nanos tick_;
  Nanos expected_ = 0;
  Nanos until_ = 0;
  bool running_ = false;
  std::uint64_t stalls_ = 0;
  std::array<Stall, kRemembered> ring_{};
};

}  // namespace pingloom::probe
