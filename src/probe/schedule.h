// Decides when each target of an assignment is pinged: once in every interval, at times that are
// fixed from the start, so that the schedule does not drift and a late wake-up delays no later
// ping. One thread uses it and passes the time in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/time.h"
#include "probe/renumber.h"

namespace pingloom::probe {

// The targets are spread evenly over the interval, in an order that the seed decides. Every host
// has its own seed, so that a fleet does not ping the same target at the same time. After a stall,
// overdue targets follow at no more than twice the configured rate, except for those that fell due
// within kBurst. A target that is a whole interval overdue skips the round, which is counted.
// Bounds: an interval from 1 ms to 1 h; 2^20 targets, 4 bytes of memory each.
class ProbeSchedule {
 public:
  struct Due {
    std::uint32_t target;
    Nanos due_mono;
  };
  // A busy host's scheduler may delay a thread by this much without a stall (StallWatch::kLate). A
  // thread that always wakes up this late still sends everything.
  static constexpr Nanos kBurst = 20 * kMillisecond;
  static constexpr Nanos kMaxStart = 400 * kMillisecond;

  // REQUIRES: interval > 0.
  ProbeSchedule(Nanos interval, std::size_t targets, Nanos first_mono, std::uint64_t seed);

  // Makes the same assignment's schedule after a plan change. Targets that stay are due next in the
  // same order and at about the same time as before; none is left out or repeated. New targets get
  // random places among them. `new_numbers` comes from renumber(), for the targets of `before`.
  ProbeSchedule(const ProbeSchedule& before, std::span<const std::uint32_t> new_numbers,
                Nanos interval, std::size_t targets, Nanos now, std::uint64_t seed);

  // Makes a schedule that pings each target once, in the order of their numbers and `gap` apart,
  // and then ends.
  static ProbeSchedule once(Nanos gap, std::size_t targets, Nanos first_mono);

  // Returns the first due time of a new assignment. Each host has its own phase, which is less than
  // the time between two targets and at most kMaxStart.
  static Nanos firstDue(Nanos interval, std::size_t targets, Nanos now, std::uint64_t seed);

  // When the next ping is due; kNever when there is none.
  Nanos nextDue() const;
  // Appends up to `most` pings that are due by `now` to `out`; due_mono is their exact due time.
  void take(Nanos now, std::size_t most, std::vector<Due>& out);
  // Ends the schedule after this many more pings, including skipped ones.
  void limit(std::uint64_t pings) { end_slot_ = next_slot_ + pings; }
  // Calls visit(target, times) for each target that the last take() has skipped.
  template <typename Visit>
  void forEachSkipped(Visit&& visit) const {
    const std::uint64_t targets = order_.size();
    const std::uint64_t skipped = skipped_to_ - skipped_from_;
    for (std::uint64_t i = 0; i < std::min(skipped, targets); ++i) {
      visit(order_[(skipped_from_ + i) % targets], (skipped - i + targets - 1) / targets);
    }
  }
  // Returns the number of pings that were skipped because they were a whole interval late.
  std::uint64_t skipped() const { return skipped_; }

 private:
  Nanos dueAt(std::uint64_t slot) const;
  void skipOverdue(Nanos now);

  Nanos interval_;
  Nanos first_;
  std::vector<std::uint32_t> order_;  // the target of each place in the interval
  std::uint64_t next_slot_ = 0;       // a slot is round * targets + place
  std::uint64_t end_slot_ = UINT64_MAX;
  // The pace after a stall is a leaky bucket, kept as the time at which it would be empty.
  Nanos pace_gap_;
  Nanos pace_until_;
  std::uint64_t skipped_ = 0;
  std::uint64_t skipped_from_ = 0;  // the slots that the last take() has skipped
  std::uint64_t skipped_to_ = 0;
};

}  // namespace pingloom::probe
