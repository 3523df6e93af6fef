// Passes traced paths from the transports' threads to the agent's control thread. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "common/fd.h"
#include "common/traced_path.h"

namespace pingloom::probe {

// Bound: kMax paths. The oldest one is dropped for a further one, and counted.
class PathQueue {
 public:
  static constexpr std::size_t kMax = 4096;

  PathQueue();

  void push(TracedPath&& path);
  // Takes all paths in order, and resets the descriptor.
  std::vector<TracedPath> takeAll();
  // Readable while a path waits.
  int descriptor() const { return event_.get(); }
  std::uint64_t dropped() const;

 private:
  UniqueFd event_;  // eventfd
  mutable std::mutex mutex_;
  std::deque<TracedPath> waiting_;
  std::uint64_t dropped_ = 0;
};

}  // namespace pingloom::probe
