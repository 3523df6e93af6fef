// The wall clock as if it had never been set back. After it was set back, agents' windows, whose
// numbers only grow, are ahead of it until it has caught up, and they must not count as windows of
// the future. One thread.
#pragma once

#include <algorithm>

#include "common/time.h"
#include "controller/control/registry.h"

namespace pingloom::controller {

class UtcCeiling {
 public:
  // Call it with every reading of the clocks, before any agent can have learnt of it.
  void note(Now now) { ahead_ = std::max(ahead_, now.utc - now.mono); }
  // Returns a time that is not before now.utc.
  Nanos at(Now now) {
    note(now);
    return now.mono + ahead_;
  }

 private:
  Nanos ahead_ = INT64_MIN;  // the largest lead over CLOCK_MONOTONIC
};

}  // namespace pingloom::controller
