// Decides when a prober wakes up for its PINGs, and how far ahead it looks then. A plain value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/time.h"
#include "probe/task_list.h"

namespace pingloom::probe {

// Up to kExactPace PINGs a second, each leaves when the schedule says. Above that, each leaves at
// the nearest step of a grid of kGrid: a host with ten thousand targets wakes up for about thirty
// of them. 100 ms have 32 steps, so with an interval that is a multiple of that, a target's PINGs
// leave exactly an interval apart.
class Pace {
 public:
  static constexpr Nanos kGrid = 3'125 * kMicrosecond;
  static constexpr std::size_t kExactPace = 1000;
  // A host with a shorter interval has no grid: it would change the interval too much.
  static constexpr Nanos kShortest = 4 * kGrid;

  Pace() = default;
  explicit Pace(const std::vector<Task>& tasks) {
    double per_second = 0;
    Nanos shortest = kNever;
    for (const Task& task : tasks) {
      const Nanos interval = task.assignment->probe.interval;
      per_second += static_cast<double>(task.assignment->destinations.size()) * kSecond /
                    static_cast<double>(interval);
      shortest = std::min(shortest, interval);
    }
    on_grid_ = per_second > static_cast<double>(kExactPace) && shortest >= kShortest;
  }

  // Returns when a PING leaves for which the schedule says `due`; kNever stays kNever.
  Nanos departure(Nanos due) const {
    if (!on_grid_ || due == kNever) return due;
    return roundedDown(due + kGrid / 2 - 1);
  }
  // Returns the latest due time, by the schedule, of the PINGs that leave now.
  Nanos reach(Nanos now) const { return on_grid_ ? roundedDown(now) + kGrid / 2 : now; }

 private:
  static Nanos roundedDown(Nanos time) { return time / kGrid * kGrid; }

  bool on_grid_ = false;
};

}  // namespace pingloom::probe
