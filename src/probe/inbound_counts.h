// Counts the PINGs that the destinations of one assignment send to its source on the same path, by
// the window that each PING names. A prober's row of that window says how many it sent, so the two
// rows together tell what was lost on the way there from what was lost on the way back.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "common/time.h"
#include "probe/window.h"

namespace pingloom::probe {

// A count that misses PINGs would accuse the fabric, so a count is known only if this host was
// counting well before the window began, and both hosts number their windows alike. One thread.
// Memory: 8 bytes for each target, and 4 for each target and open window, of which it counts at
// most kMaxOpen.
class InboundCounts {
 public:
  // A window is complete if it begins this long after the counting; two hosts' clocks differ by
  // less.
  static constexpr Nanos kMargin = kSecond;

  explicit InboundCounts(std::size_t targets) : trusted_from_(targets, 0) {}

  // More open windows than this are not counted.
  static constexpr std::size_t kMaxOpen = 32;

  struct Clock {
    Nanos utc = 0;     // the controller's, at this moment; not negative
    Nanos offset = 0;  // from the monotonic to the controller's clock
    Nanos window = 0;  // the length of a window
    std::uint64_t index() const { return static_cast<std::uint64_t>(utc / window); }
  };
  // Begins to count, unless it has begun. All windows are incomplete until then.
  void begin(const Clock& clock);
  // A PING of the target arrived that names the window by the low 32 bits of its index. The number
  // comes from outside: a window that is closed here or has not begun makes the target's counts
  // unknown until two windows later. REQUIRES: target is one of the targets.
  void arrived(std::uint32_t target, std::uint32_t window, const Clock& clock);
  // Writes the counts of a window that is being closed, and forgets it and those before it.
  // REQUIRES: pairs.size() is the number of targets.
  void take(std::uint64_t index, const Clock& clock, std::span<PairWindow> pairs);

 private:
  struct Slot {
    std::uint64_t index = 0;
    std::vector<std::uint32_t> counts;  // by target
  };
  void follow(const Clock& clock);
  bool isOpen(std::int64_t index, const Clock& clock) const;
  std::vector<std::uint32_t>& slotOf(std::uint64_t index);

  bool begun_ = false;
  Nanos offset_ = 0;                         // when the counting began
  std::uint64_t open_from_ = 0;              // windows before it are closed
  std::uint64_t complete_from_ = 0;          // windows before it are incomplete
  std::vector<std::uint64_t> trusted_from_;  // by target; windows before it are unknown
  std::deque<Slot> slots_;                   // ascending
};

}  // namespace pingloom::probe
