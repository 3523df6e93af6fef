// No benchmark waits without a limit.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "common/duration.h"
#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

// How long a benchmark waits for something that takes far less on any machine.
constexpr Nanos kPatience = 60 * kSecond;

// Calls `done` every few milliseconds until it gives true. After `patience` it is an error, which
// names what was waited for.
template <typename Done>
Status waitUntil(const std::string& what, Nanos patience, Done&& done) {
  const Nanos deadline = monotonicNow() + patience;
  while (!done()) {
    if (monotonicNow() > deadline) {
      return makeError(what, "not reached within " + formatDuration(patience));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

}  // namespace pingloom::bench
