// The controller's UTC as this agent knows it: CLOCK_MONOTONIC plus an offset from heartbeats. So
// the windows of all agents begin together, and a step of the local clock moves none. Any thread.
#pragma once

#include <atomic>

#include "common/time.h"

namespace pingloom::probe {

class WindowClock {
 public:
  explicit WindowClock(Nanos offset) : offset_(offset) {}
  void setOffset(Nanos offset) { offset_.store(offset, std::memory_order_relaxed); }
  Nanos offset() const { return offset_.load(std::memory_order_relaxed); }
  Nanos utc(Nanos now_mono) const { return now_mono + offset(); }

 private:
  std::atomic<Nanos> offset_;
};

}  // namespace pingloom::probe
