#include "controller/http/cells.h"

namespace pingloom::controller {

bool isPair(const ProbeGrid& grid, std::size_t source, std::size_t destination) {
  const IpAddress& from = grid.sources[source];
  const IpAddress& to = grid.destinations[destination];
  return from.isV4() == to.isV4() && (grid.spec.self || from != to);
}

std::optional<PairState> stateOf(const ProbeGrid& grid, const SourceSnapshot* snapshot,
                                 std::size_t source, std::size_t destination) {
  if (snapshot != nullptr && destination < snapshot->states.size()) {
    return snapshot->states[destination];
  }
  if (isPair(grid, source, destination)) return PairState::kPending;
  return std::nullopt;
}

const Row* rowOf(const SourceSnapshot* snapshot, std::size_t destination) {
  if (snapshot == nullptr || snapshot->rows == nullptr) return nullptr;
  const auto& rows = snapshot->rows->rows;
  if (destination >= rows.size() || rows[destination].sent == 0) return nullptr;
  return &rows[destination];
}

StateCounts countStates(const Board& board, const GridPlan& plan, std::uint32_t probe) {
  StateCounts counts{};
  const ProbeGrid& grid = plan.probes[probe];
  const auto snapshots = board.sources(probe, plan.generation);
  for (std::size_t source = 0; source < grid.sources.size(); ++source) {
    const SourceSnapshot* snapshot = source < snapshots.size() ? snapshots[source].get() : nullptr;
    if (snapshot != nullptr && snapshot->states.size() == grid.destinations.size()) {
      // The fast path: this function runs for millions of pairs every few seconds.
      for (const auto& state : snapshot->states) {
        if (state) ++counts[static_cast<std::size_t>(*state)];
      }
      continue;
    }
    for (std::size_t destination = 0; destination < grid.destinations.size(); ++destination) {
      const auto state = stateOf(grid, snapshot, source, destination);
      if (state) ++counts[static_cast<std::size_t>(*state)];
    }
  }
  return counts;
}

std::optional<std::uint32_t> probeNamed(const GridPlan& plan, std::string_view name) {
  for (std::uint32_t i = 0; i < plan.probes.size(); ++i) {
    if (plan.probes[i].spec.name == name) return i;
  }
  return std::nullopt;
}

}  // namespace pingloom::controller
