// Merges the windows of a probe's paths: the N windows of one probe, source and index become N + 1,
// the first of which is their merge (path 0). Counts are summed and distributions merged, so that
// percentiles over all paths are computed and not averaged. Windows of a probe with one path pass
// through. The control thread. Bound: windows wait at most kMaxWait for the other paths, then those
// present are merged.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "common/time.h"
#include "probe/window.h"
#include "probe/window_queue.h"

namespace pingloom::agent {

class PathMerge {
 public:
  static constexpr Nanos kMaxWait = 2 * kSecond;

  // Takes the memory of merges from `spares`. REQUIRES: it outlives this.
  explicit PathMerge(probe::WindowQueue& spares) : spares_(spares) {}

  void add(probe::ClosedWindow&& window, Nanos now_mono);
  // Returns the windows that are complete or have waited long enough, in that order.
  std::vector<probe::ClosedWindow> take(Nanos now_mono);
  Nanos due() const;  // when the first waiting window has waited long enough

 private:
  struct Group {
    Nanos due_mono = 0;
    std::vector<probe::ClosedWindow> windows;  // windows of one assignment and index
  };
  void release(Group& group);
  probe::ClosedWindow mergeOf(const std::vector<probe::ClosedWindow>& windows);

  probe::WindowQueue& spares_;
  std::list<Group> waiting_;  // the longest waiting group first
  std::vector<probe::ClosedWindow> ready_;
};

}  // namespace pingloom::agent
