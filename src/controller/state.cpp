#include "controller/state.h"

#include <numeric>

namespace pingloom::controller {

PairState deriveState(const Row& row, const PairFacts& facts) {
  const bool has_window = row.sent > 0;
  if (!has_window && (facts.source_alive || !facts.source_known)) return PairState::kPending;
  if (!facts.source_alive || facts.window_outdated) return PairState::kStale;
  if (row.received < row.sent && facts.needs_agent && facts.destination_away) {
    return PairState::kAgentDown;
  }
  if (row.refused > 0) return PairState::kRefused;
  if (row.unreachable > 0) return PairState::kUnreachable;
  if (row.lost > 0) return PairState::kLoss;
  const std::uint64_t anomalous =
      std::accumulate(row.anomalous.begin(), row.anomalous.end(), std::uint64_t{0});
  if (row.received > 0 && (row.network.count == 0 || anomalous * 2 > row.received)) {
    return PairState::kAnomalous;
  }
  return PairState::kOk;
}

}  // namespace pingloom::controller
