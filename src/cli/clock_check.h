// Compares the clock of an RDMA endpoint with this host's own, to see whether its ticks are what
// the device says they are.
#pragma once

#include <string>

#include "common/error.h"
#include "common/tick_clock.h"
#include "common/time.h"
#include "rdma/device.h"

namespace pingloom::cli {

struct ClockCheck {
  // A device whose clock is off by more than this has other units than it says. Crystals are within
  // 100 ppm, and NTP slews the host's clock by up to 500 ppm.
  static constexpr double kPlausiblePpm = 1000;

  TickClock clock = TickClock::nanoseconds(ClockSource::kSoftware);
  Nanos duration = 0;      // on the host's clock
  double ppm = 0;          // how much faster than the host's clock it runs
  double uncertainty = 0;  // of ppm, because a send leaves between two looks at the host's clock

  bool plausible() const {
    return ppm - uncertainty < kPlausiblePpm && ppm + uncertainty > -kPlausiblePpm;
  }
};

// Sends messages to `peer`, which may be the device itself, for `duration` and compares the times
// at which they left with CLOCK_MONOTONIC. Nobody has to receive them. Blocks. Fails if a message
// does not leave or has no timestamp.
Result<ClockCheck> checkClock(rdma::Device& device, const rdma::Gid& peer, Nanos duration);

std::string textOf(const ClockCheck& check);

}  // namespace pingloom::cli
