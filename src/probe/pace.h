// When a prober wakes up for what is due. A plain value.
#pragma once

#include <cstddef>
#include <vector>

#include "common/time.h"
#include "probe/task_list.h"

namespace pingloom::probe {

// Below kExactPace pings a second each leaves when it is due; above, what falls due leaves together
// on a grid of kQuantum, which halves the wake-ups of a host with ten thousand targets and makes no
// ping later than that.
class Pace {
 public:
  static constexpr Nanos kQuantum = 1'500 * kMicrosecond;
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

  // `due`: of the next ping; INT64_MAX: there is none.
  Nanos wakeFor(Nanos due) const {
    if (!on_grid_ || due == INT64_MAX) return due;
    return (due + kQuantum - 1) / kQuantum * kQuantum;
  }

 private:
  bool on_grid_ = false;
};

}  // namespace pingloom::probe
