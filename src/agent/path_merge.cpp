#include "agent/path_merge.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pingloom::agent {

void PathMerge::add(probe::ClosedWindow&& window, Nanos now_mono) {
  if (window.path == 0) {
    ready_.push_back(std::move(window));
    return;
  }
  auto group = std::find_if(waiting_.begin(), waiting_.end(), [&](const Group& at) {
    return at.windows.front().index == window.index &&
           at.windows.front().assignment == window.assignment;
  });
  if (group == waiting_.end()) {
    group = waiting_.insert(waiting_.end(), {now_mono + kMaxWait, {}});
  }
  const std::uint32_t paths = window.assignment->probe.paths;
  group->windows.push_back(std::move(window));
  if (group->windows.size() < paths) return;
  release(*group);
  waiting_.erase(group);
}

std::vector<probe::ClosedWindow> PathMerge::take(Nanos now_mono) {
  while (!waiting_.empty() && due() <= now_mono) {
    release(waiting_.front());
    waiting_.pop_front();
  }
  return std::exchange(ready_, {});
}

Nanos PathMerge::due() const { return waiting_.empty() ? kNever : waiting_.front().due_mono; }

void PathMerge::release(Group& group) {
  std::sort(group.windows.begin(), group.windows.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  ready_.push_back(mergeOf(group.windows));
  std::move(group.windows.begin(), group.windows.end(), std::back_inserter(ready_));
}

// Times from a clock other than the first path's are left out, because a row never mixes clocks.
probe::ClosedWindow PathMerge::mergeOf(const std::vector<probe::ClosedWindow>& windows) {
  const probe::ClosedWindow& first = windows.front();
  probe::ClosedWindow merge;
  merge.assignment = first.assignment;
  merge.index = first.index;
  merge.clock = first.clock;
  merge.device = first.device;
  merge.pairs = spares_.spare(first.pairs.size());
  for (const probe::ClosedWindow& window : windows) {
    const bool same_clock = window.clock == first.clock && window.device == first.device;
    const std::size_t pairs = std::min(window.pairs.size(), merge.pairs.size());
    for (std::size_t i = 0; i < pairs; ++i) {
      merge.pairs[i].addCounts(window.pairs[i]);
      if (same_clock) merge.pairs[i].addTimes(window.pairs[i]);
    }
  }
  return merge;
}

}  // namespace pingloom::agent
