// When each target of an assignment is pinged: once in every interval, at times fixed from the
// start, so that nothing drifts and a late wake-up delays no later ping. One thread; the time comes
// in as an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/time.h"
#include "probe/renumber.h"

namespace pingloom::probe {

// The targets lie evenly spread over the interval, in an order that the seed decides (every host
// has its own, so a fleet does not sweep over the same target together). After a stall the targets
// that are overdue follow at no more than twice the configured rate, beyond what fell due in
// kBurst; one that is a whole interval overdue skips that round and is counted. Bounds: interval
// from 1 ms to 1 h; at most 2^20 targets; 4 bytes of memory for each.
class ProbeSchedule {
 public:
  struct Due {
    std::uint32_t target;
    Nanos due_mono;
  };
  // What a busy host's scheduler may make a thread wait without its being a stall
  // (StallWatch::kLate): one that always wakes up this late still sends all it should.
  static constexpr Nanos kBurst = 20 * kMillisecond;
  static constexpr Nanos kMaxStart = 400 * kMillisecond;

  // REQUIRES: interval > 0.
  ProbeSchedule(Nanos interval, std::size_t targets, Nanos first_mono, std::uint64_t seed);

  // The same assignment's schedule after a plan change: targets that stay are due next in the same
  // order and at about the same time as before (none is left out, none repeated), new ones lie at
  // random places among them. `new_numbers` as renumber() makes it, for the targets of `before`.
  ProbeSchedule(const ProbeSchedule& before, std::span<const std::uint32_t> new_numbers,
                Nanos interval, std::size_t targets, Nanos now, std::uint64_t seed);

  // Each target once, in their order, `gap` apart; then it ends.
  static ProbeSchedule once(Nanos gap, std::size_t targets, Nanos first_mono);

  // A first due time for a new assignment: each host has its own phase between two targets' times,
  // but none waits longer than kMaxStart.
  static Nanos firstDue(Nanos interval, std::size_t targets, Nanos now, std::uint64_t seed);

  // When take() has something to give; kNever without targets.
  Nanos nextDue() const;
  // Appends what is due by `now` to `out`, at most `most`; due_mono is when it should have left.
  void take(Nanos now, std::size_t most, std::vector<Due>& out);
  // Ends after this many more pings (skipped ones count); nextDue() is kNever then.
  void limit(std::uint64_t pings) { end_slot_ = next_slot_ + pings; }
  // Pings that never left because they were a whole interval late.
  std::uint64_t skipped() const { return skipped_; }

 private:
  Nanos dueAt(std::uint64_t slot) const;
  void skipOverdue(Nanos now);

  Nanos interval_;
  Nanos first_;
  std::vector<std::uint32_t> order_;  // the target of each place in the interval
  std::uint64_t next_slot_ = 0;       // slots are counted through: round * targets + place
  std::uint64_t end_slot_ = UINT64_MAX;
  // The pace after a stall (a leaky bucket kept as the time at which it would be empty).
  Nanos pace_gap_;
  Nanos pace_until_;
  std::uint64_t skipped_ = 0;
};

}  // namespace pingloom::probe
