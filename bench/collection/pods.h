// Pods that come and go: processes that are started at a rate and live for a while each.
#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "common/time.h"
#include "shared/child.h"

namespace pingloom::bench {

struct Churn {
  // Bounds of what a benchmark may ask for: pods that live at once, and seconds.
  static constexpr double kMaxAtOnce = 4000;
  static constexpr int kMaxSeconds = 3600;

  double per_second = 100;
  Nanos life = 8 * kSecond;     // of a pod; it includes the time that it takes to start
  Nanos length = 60 * kSecond;  // how long pods are started
};

// What the pipe of the pods' parent carries, one record after the other.
struct PodRecord {
  static constexpr std::uint64_t kEnd = UINT64_MAX;

  std::uint64_t number = 0;  // kEnd: all pods have ended
  Nanos started = 0;         // monotonic; at the end: how many were started
  Nanos read = 0;            // when its first value was read; at the end: the pods' CPU time
};
void tell(int pipe, const PodRecord& record);

// What a pod does. It ends at `until`, monotonic, and returns the exit code.
using Pod = std::function<int(std::uint64_t number, Nanos started, Nanos until, int pipe)>;
// Takes the numbers of the pods that live whenever they have changed, at most every 100 ms.
using Discovery = std::function<void(const std::set<std::uint64_t>& alive)>;

// Starts the parent of the pods.
Child startPods(const Churn& churn, const Pod& pod, const Discovery& discovery);
void sleepUntil(Nanos monotonic);

}  // namespace pingloom::bench
