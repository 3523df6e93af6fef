// Decides when a prober wakes up for its PINGs, and how far ahead it looks then. A plain value.
#pragma once

#include <cstddef>
#include <vector>

#include "common/time.h"
#include "probe/task_list.h"

namespace pingloom::probe {

// Up to kExactPace PINGs a second, each leaves when it is due. Above that, PINGs leave together at
// the steps of a grid of kGrid: a host with ten thousand targets wakes up for about thirty of them.
// No PING leaves more than half a step early or late.
class Pace {
 public:
  static constexpr Nanos kGrid = 3'200 * kMicrosecond;
  static constexpr std::size_t kExactPace = 1000;

  Pace() = default;
  explicit Pace(const std::vector<Task>& tasks) {
    double per_second = 0;
    for (const Task& task : tasks) {
      per_second += static_cast<double>(task.assignment->destinations.size()) * kSecond /
                    static_cast<double>(task.assignment->probe.interval);
    }
    on_grid_ = per_second > static_cast<double>(kExactPace);
  }

  // Returns when to wake up for a PING that is due at `due`; kNever stays kNever.
  Nanos wakeFor(Nanos due) const {
    if (!on_grid_ || due == kNever) return due;
    return roundedDown(due + kGrid / 2 - 1);
  }
  // Returns the latest due time of the PINGs that leave now.
  Nanos reach(Nanos now) const { return on_grid_ ? roundedDown(now) + kGrid / 2 : now; }

 private:
  static Nanos roundedDown(Nanos time) { return time / kGrid * kGrid; }

  bool on_grid_ = false;
};

}  // namespace pingloom::probe
