// When a prober wakes up for what is due, and how far it looks ahead then. A plain value.
#pragma once

#include <cstddef>
#include <vector>

#include "common/time.h"
#include "probe/task_list.h"

namespace pingloom::probe {

// Below kExactPace pings a second each leaves when it is due; above, on a grid of kGrid what falls
// due up to half a step earlier or later leaves together: a host with ten thousand targets wakes up
// for thirty pings at a time, and none is moved by more than that half.
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

  // `due`: of the next ping; kNever: there is none.
  Nanos wakeFor(Nanos due) const {
    if (!on_grid_ || due == kNever) return due;
    return roundedDown(due + kGrid / 2 - 1);
  }
  // What is due by then leaves now.
  Nanos reach(Nanos now) const { return on_grid_ ? roundedDown(now) + kGrid / 2 : now; }

 private:
  static Nanos roundedDown(Nanos time) { return time / kGrid * kGrid; }

  bool on_grid_ = false;
};

}  // namespace pingloom::probe
