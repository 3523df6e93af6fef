// The windows of an assignment that still wait for verdicts: the current one, and those before it
// until they are complete. One thread; the time comes in as an argument.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "common/time.h"
#include "plan/plan.h"
#include "probe/inbound_counts.h"
#include "probe/renumber.h"
#include "probe/window.h"
#include "probe/window_clock.h"
#include "probe/window_queue.h"

namespace pingloom::probe {

// A window stays open for this long after the timeout of its last exchange, so that it still counts
// replies that arrived in time but were read late because this host or the responder stalled.
constexpr Nanos kWindowGrace = kSecond;

// An exchange belongs to the window in which its PING was sent (open()), and finds it again by
// target and index. A window closes kWindowGrace after the timeout of its last exchange. By then
// every exchange must have its verdict: the caller settles the exchanges that have expired by `now`
// before it calls closeDue(now). Indexes only grow, whatever the controller's clock does, and no
// window is longer than two regular ones.
// Owns the windows; the clock and the queue outlive it. Bound: at most
// (timeout + kWindowGrace) / window + 3 windows are open.
class OpenWindows {
 public:
  OpenWindows(std::shared_ptr<const plan::Assignment> assignment, WindowOrigin origin,
              const WindowClock& clock, WindowQueue& queue);

  // Returns the index of the window for a PING sent now, and opens that window if necessary.
  std::uint64_t open(Nanos now);
  // Returns the pair's counts in that window. If the window is closed already, the newest window
  // takes them; only late and duplicate answers are counted then, and without any open window they
  // are lost. The reference is valid until the next call of open(), closeDue(), reassign() or
  // flush().
  PairWindow& windowFor(std::uint32_t target, std::uint64_t index);
  bool isOpen(std::uint64_t index) const;
  // The number by which PINGs name the probe (wire::probeTag).
  std::uint32_t probeTag() const { return probe_tag_; }
  // Counts a PING of the target's own flow to this source, which names its window.
  void arrived(std::uint32_t target, std::uint32_t window, Nanos now) {
    inbound_.arrived(target, window, clockAt(now));
  }

  // When closeDue() must be called next; kNever while nothing is open.
  Nanos nextClose() const;
  // Closes the windows that are complete by `now` and puts them into the queue.
  void closeDue(Nanos now);
  // Closes all windows as they are. Exchanges without a verdict are not counted as sent.
  void flush(Nanos now);

  // Adopts a changed plan. Pairs that stay keep their counts, and those that left are dropped;
  // `new_numbers` comes from renumber(). The counting of arrivals begins again then. REQUIRES:
  // keeps(*assignment).
  void reassign(std::shared_ptr<const plan::Assignment> assignment,
                std::span<const std::uint32_t> new_numbers);
  // Whether the open windows can continue as this assignment's: the probe's name, the source and
  // the window length are the same.
  bool keeps(const plan::Assignment& assignment) const;

 private:
  struct Window {
    std::uint64_t index;
    Nanos opened_mono;
    Nanos timeout;     // the longest timeout of the exchanges sent in it
    Nanos close_mono;  // kNever for the current window
    std::vector<PairWindow> pairs;
  };
  InboundCounts::Clock clockAt(Nanos now) const;
  std::uint64_t indexAt(Nanos now) const { return clockAt(now).index(); }
  bool hasCurrent() const;
  void endCurrent(Nanos now);  // if its time is over
  void handOver(Window& window, Nanos now);

  std::shared_ptr<const plan::Assignment> assignment_;
  WindowOrigin origin_;
  const WindowClock* clock_;
  WindowQueue* queue_;
  std::uint32_t probe_tag_;
  InboundCounts inbound_;
  std::deque<Window> windows_;  // ascending; only back() may be the current one
  std::uint64_t last_index_ = 0;
  PairWindow unclaimed_;
};

}  // namespace pingloom::probe
