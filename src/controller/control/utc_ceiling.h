// The wall clock as it would be had it never been set back. After it was, agents' windows, whose
// numbers only grow, are ahead of it until it has caught up: they are no windows of the future.
// One thread.
#pragma once

#include <algorithm>

#include "common/time.h"
#include "controller/control/registry.h"

namespace pingloom::controller {

class UtcCeiling {
 public:
  // Call with every reading of the clocks, at least before an agent can have learnt it.
  void note(Now now) { ahead_ = std::max(ahead_, now.utc - now.mono); }
  // Not before now.utc.
  Nanos at(Now now) {
    note(now);
    return now.mono + ahead_;
  }

 private:
  Nanos ahead_ = INT64_MIN;  // of CLOCK_MONOTONIC, at most
};

}  // namespace pingloom::controller
