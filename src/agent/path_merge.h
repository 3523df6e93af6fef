// Puts the windows of a probe's paths together: the N windows of one probe, source and index go on
// as N + 1, their merge (path 0) first. Counts are summed and distributions merged, so that
// percentiles over all paths are computed, not averaged. Windows of a single path pass. The control
// thread. Bound: windows wait for the others of theirs for at most kMaxWait, then they go on
// with the merge of those that came.
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

  // Takes the memory of merges from there; outlives this.
  explicit PathMerge(probe::WindowQueue& spares) : spares_(spares) {}

  void add(probe::ClosedWindow&& window, Nanos now_mono);
  // What is complete, or has waited long enough; in the order in which it became so.
  std::vector<probe::ClosedWindow> take(Nanos now_mono);
  Nanos due() const;  // when the first of those that wait has waited long enough

 private:
  struct Group {
    Nanos due_mono = 0;
    std::vector<probe::ClosedWindow> windows;  // of one assignment and index
  };
  void release(Group& group);
  probe::ClosedWindow mergeOf(const std::vector<probe::ClosedWindow>& windows);

  probe::WindowQueue& spares_;
  std::list<Group> waiting_;  // the longest first
  std::vector<probe::ClosedWindow> ready_;
};

}  // namespace pingloom::agent
