// Closed windows on their way from the transports' threads to the agent's control thread, and their
// memory on its way back. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "common/fd.h"
#include "common/time.h"
#include "probe/window.h"

namespace pingloom::probe {

// The transports never wait for the consumer. Bounds: what was closed in the last kMaxWait
// waits, older windows are dropped and counted; spare memory is kept for kMaxSparePairs pairs
// (about 0.7 KB each with ten samples), or for one set of pairs of any size.
class WindowQueue {
 public:
  static constexpr Nanos kMaxWait = 30 * kSecond;
  static constexpr std::size_t kMaxSparePairs = 30'000;

  WindowQueue();

  void push(ClosedWindow&& window, Nanos now_mono = monotonicNow());
  std::vector<ClosedWindow> takeAll();             // in order; also resets the descriptor
  int descriptor() const { return event_.get(); }  // readable while something waits
  std::uint64_t dropped() const;                   // windows that nobody took in time

  // The pairs' vectors keep their capacity for the next window.
  void recycle(std::vector<PairWindow>&& pairs);
  std::vector<PairWindow> spare(std::size_t pairs);  // `pairs` cleared windows

 private:
  struct Waiting {
    ClosedWindow window;
    Nanos since_mono;
  };
  UniqueFd event_;  // eventfd
  mutable std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::uint64_t dropped_ = 0;
  std::vector<std::vector<PairWindow>> spares_;
  std::size_t spare_pairs_ = 0;
};

}  // namespace pingloom::probe
