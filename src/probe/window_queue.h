// Passes closed windows from the transports' threads to the agent's control thread, and their
// memory back. Any thread.
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

// The transports never wait for the consumer. Bounds: windows that were closed within the last
// kMaxWait are kept, and older ones are dropped and counted. Spare memory is kept for
// kMaxSparePairs pairs (about 0.7 KB each with ten samples), or for one set of pairs of any size.
class WindowQueue {
 public:
  static constexpr Nanos kMaxWait = 30 * kSecond;
  static constexpr std::size_t kMaxSparePairs = 30'000;

  WindowQueue();

  void push(ClosedWindow&& window, Nanos now_mono = monotonicNow());
  // Takes all windows in order, and resets the descriptor.
  std::vector<ClosedWindow> takeAll();
  // Readable while a window waits.
  int descriptor() const { return event_.get(); }
  // The number of windows that were dropped because they were not taken in time.
  std::uint64_t dropped() const;

  // Gives back the memory of pairs for spare(). Their vectors keep their capacity.
  void recycle(std::vector<PairWindow>&& pairs);
  // Returns this many cleared pairs, from recycled memory if possible.
  std::vector<PairWindow> spare(std::size_t pairs);

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
