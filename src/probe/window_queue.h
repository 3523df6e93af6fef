// Closed windows on their way from the transports' threads to the agent's control thread, and their
// memory on its way back. Any thread. Bound: what the transports close in kLongestWait; the
// consumer never blocks.
#pragma once

#include <mutex>
#include <vector>

#include "common/fd.h"
#include "probe/window.h"

namespace pingloom::probe {

class WindowQueue {
 public:
  WindowQueue();

  void push(ClosedWindow&& window);
  std::vector<ClosedWindow> takeAll();             // also resets the descriptor
  int descriptor() const { return event_.get(); }  // readable while something waits

  // The pairs' vectors keep their capacity for the next window.
  void recycle(std::vector<PairWindow>&& pairs);
  std::vector<PairWindow> spare(std::size_t pairs);  // `pairs` cleared windows

 private:
  UniqueFd event_;  // eventfd
  std::mutex mutex_;
  std::vector<ClosedWindow> waiting_;
  std::vector<std::vector<PairWindow>> spares_;
};

}  // namespace pingloom::probe
