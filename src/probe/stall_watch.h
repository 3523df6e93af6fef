// Detects by late timer ticks that this process did not run. An exchange that was in flight then
// says nothing about the network. One thread; the time comes in as an argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/time.h"

namespace pingloom::probe {

// A tick that is more than kLate late means a stall, which lasted from the tick's due time until
// the tick. There are ticks only while something is in flight (watchUntil), so that an idle agent
// sleeps. Bound: the last kRemembered stalls are remembered.
class StallWatch {
 public:
  static constexpr Nanos kLate = 20 * kMillisecond;
  static constexpr std::size_t kRemembered = 16;

  explicit StallWatch(Nanos tick = 20 * kMillisecond) : tick_(tick) {}

  // Something is in flight until then, such as an exchange until its deadline. Starts the ticks, or
  // continues them for longer.
  void watchUntil(Nanos now, Nanos until);
  // When tick() must be called next; kNever while there are no ticks.
  Nanos nextTick() const { return running_ ? expected_ : kNever; }
  // The event loop calls this first after every wake-up, with the time of the wake-up. A call
  // before nextTick() does no harm. The ticks end once the time given to watchUntil() has passed.
  void tick(Nanos now);
  // Records a stall that the loop has detected otherwise, by a packet that waited in its socket.
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
