#include "controller/http/cells.h"

#include "controller/model/grid_plan.h"

namespace pingloom::controller {

std::optional<PairState> stateOf(const ProbeGrid& grid, const SourceSnapshot* snapshot,
                                 std::size_t source, std::size_t destination) {
  if (snapshot != nullptr && destination < snapshot->states.size()) {
    return snapshot->states[destination];
  }
  if (isPair(grid, source, destination)) return PairState::kPending;
  return std::nullopt;
}

PackedRow rowOf(const SourceSnapshot* snapshot, std::size_t destination) {
  if (snapshot == nullptr || snapshot->rows == nullptr) return {};
  return snapshot->rows->rows.packed(destination);
}

StateCounts CellCounts::states() const {
  StateCounts sums{};
  for (std::size_t state = 0; state < of.size(); ++state) {
    for (const std::uint64_t count : of[state]) sums[state] += count;
  }
  return sums;
}

SeverityCounts CellCounts::severities() const {
  SeverityCounts sums{};
  for (const SeverityCounts& counts : of) {
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
  }
  return sums;
}

CellCounts& CellCounts::operator+=(const CellCounts& other) {
  for (std::size_t state = 0; state < of.size(); ++state) {
    for (std::size_t i = 0; i < of[state].size(); ++i) of[state][i] += other.of[state][i];
  }
  return *this;
}

CellCounts countPairs(const Board& board, const GridPlan& plan, std::uint32_t probe) {
  CellCounts counts;
  const auto count = [&counts](std::optional<PairState> state, Severity severity) {
    if (!state) return;
    ++counts.of[static_cast<std::size_t>(*state)][static_cast<std::size_t>(severity)];
  };
  const ProbeGrid& grid = plan.probes[probe];
  const std::size_t columns = grid.destinations.size();
  const auto snapshots = board.sources(probe, plan.generation);
  for (std::size_t source = 0; source < grid.sources.size(); ++source) {
    const SourceSnapshot* snapshot = source < snapshots.size() ? snapshots[source].get() : nullptr;
    const bool known = snapshot != nullptr && snapshot->states.size() == columns;
    // The fast paths: this function runs for millions of pairs every few seconds.
    if (known && snapshot->judged.size() == columns) {
      for (std::size_t i = 0; i < columns; ++i) {
        count(snapshot->states[i], snapshot->judged[i].severity);
      }
    } else if (known && snapshot->judged.empty()) {
      for (const auto& state : snapshot->states) count(state, Severity::kNone);
    } else {
      for (std::size_t i = 0; i < columns; ++i) {
        count(stateOf(grid, snapshot, source, i),
              snapshot == nullptr ? Severity::kNone : snapshot->severityOf(i));
      }
    }
  }
  return counts;
}

}  // namespace pingloom::controller
