// Derives the state of a pair from one table, of which the first matching line applies.
// docs/redis-keys.md shows it to operators; state_test.cpp tests it line by line.
//
//   pending      no window of the pair yet, and its source is alive or was never there
//   stale        the source's agent has no lease, or its newest window ended too long ago
//   agent-down   not everything was answered, and the destination's agent is not there, or was away
//                at some time in the window or since; never where no agent is needed to answer.
//                rdma: or its endpoint was made anew
//   misfit       pings were longer than the path MTU
//   refused      something was refused
//   unreachable  something was unreachable
//   loss         something was lost
//   anomalous    something was received, but no exchange has a network time, or more than half of
//                those received are anomalous
//   ok           everything else
#pragma once

#include "common/vocabulary.h"
#include "controller/model/board.h"

namespace pingloom::controller {

// The facts about a pair that are not in its counts.
struct PairFacts {
  bool source_known = false;      // whether its agent ever registered
  bool source_alive = false;      // whether its agent has a lease
  bool window_outdated = false;   // whether the window ended more than staleAfter() ago
  bool needs_agent = true;        // whether the destination needs an agent to answer
  bool destination_away = false;  // whether it is away, or was away during the window or since
};

// Pure; any thread. It is inline because it is called for millions of pairs at a time.
inline PairState deriveState(const PairCounts& counts, const PairFacts& facts) {
  const bool has_window = counts.sent > 0;
  if (!has_window && (facts.source_alive || !facts.source_known)) return PairState::kPending;
  if (!facts.source_alive || facts.window_outdated) return PairState::kStale;
  if (counts.received < counts.sent && facts.needs_agent && facts.destination_away) {
    return PairState::kAgentDown;
  }
  if (counts.misfit > 0) return PairState::kMisfit;
  if (counts.refused > 0) return PairState::kRefused;
  if (counts.unreachable > 0) return PairState::kUnreachable;
  if (counts.lost > 0) return PairState::kLoss;
  if (counts.received > 0 &&
      (counts.timed == 0 || std::uint64_t{counts.anomalous} * 2 > counts.received)) {
    return PairState::kAnomalous;
  }
  return PairState::kOk;
}

// The time within which all sources learn a new RDMA endpoint of a destination.
constexpr Nanos kEndpointSpread = kSecond;

// Returns how long after the end of its newest window a source counts as stale.
constexpr Nanos staleAfter(Nanos window, Nanos timeout) {
  return 2 * window + timeout + 3 * kSecond;
}

}  // namespace pingloom::controller
