// An assignment's windows that still wait for verdicts: the current one and those before it that
// drain. One thread; the time comes in as an argument.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "common/time.h"
#include "plan/plan.h"
#include "probe/renumber.h"
#include "probe/window.h"
#include "probe/window_clock.h"
#include "probe/window_queue.h"

namespace pingloom::probe {

// A window waits this much longer than its last exchange's timeout: replies that came in time but
// were found late (this host or the responder stalled) still reach it.
constexpr Nanos kWindowGrace = kSecond;

// An exchange belongs to the window in which its PING was sent (open()), and finds it again by
// (target, index). A window closes kWindowGrace after the timeout of its last exchange; until then
// every exchange must have got its verdict: the caller settles what has expired by `now` before it
// calls closeDue(now). Indexes only grow, whatever the controller's clock does; no window is longer
// than two regular ones.
// Owns the windows; the clock and the queue outlive it. Bound: at most
// (timeout + kWindowGrace) / window + 3 windows are open.
class OpenWindows {
 public:
  OpenWindows(std::shared_ptr<const plan::Assignment> assignment, WindowOrigin origin,
              const WindowClock& clock, WindowQueue& queue);

  // The index of the window that a PING sent now belongs to; opens it where needed.
  std::uint64_t open(Nanos now);
  // The pair's counts in that window; the newest window's where that one is closed already (only
  // late and duplicate are counted then; without any open window they are lost). The reference
  // holds until the next call of open(), closeDue(), reassign() or flush().
  PairWindow& windowFor(std::uint32_t target, std::uint64_t index);
  bool isOpen(std::uint64_t index) const;

  // When closeDue() must be called next; kNever while nothing is open.
  Nanos nextClose() const;
  // Hands over what is complete.
  void closeDue(Nanos now);
  // Hands over everything as it stands; exchanges without a verdict are not counted as sent.
  void flush(Nanos now);

  // The plan changed. Pairs that stay (`new_numbers` as renumber() makes it) keep their counts,
  // those that left are dropped. REQUIRES: keeps(*assignment).
  void reassign(std::shared_ptr<const plan::Assignment> assignment,
                std::span<const std::uint32_t> new_numbers);
  // Whether the open windows can go on as this assignment's: same probe, source, window length.
  bool keeps(const plan::Assignment& assignment) const;

 private:
  struct Window {
    std::uint64_t index;
    Nanos opened_mono;
    Nanos timeout;     // the longest of the exchanges sent in it
    Nanos close_mono;  // kNever for the current one
    std::vector<PairWindow> pairs;
  };
  std::uint64_t indexAt(Nanos now) const;
  bool hasCurrent() const;
  void endCurrent(Nanos now);  // where its time is over
  void handOver(Window& window, Nanos now);

  std::shared_ptr<const plan::Assignment> assignment_;
  WindowOrigin origin_;
  const WindowClock* clock_;
  WindowQueue* queue_;
  std::deque<Window> windows_;  // ascending; all but back() drain
  std::uint64_t last_index_ = 0;
  PairWindow unclaimed_;
};

}  // namespace pingloom::probe
