// One moment on both clocks. A plain value; any thread.
#pragma once

#include "common/time.h"

namespace pingloom {

// The two readings lie within kApart of each other, unless the thread was interrupted three times
// between them. Both clocks are slewed alike, so if their difference changes between two instants,
// CLOCK_REALTIME was set.
struct Instant {
  static constexpr Nanos kApart = 500;
  Nanos mono = 0;
  Nanos utc = 0;

  static Instant now();
};

}  // namespace pingloom
