// One cell of a grid for all endpoints, also before a source's first snapshot. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "controller/model/board.h"

namespace pingloom::controller {

// Returns nullopt where the cell is not a pair. `snapshot` may be nullptr: every pair is pending
// then.
std::optional<PairState> stateOf(const ProbeGrid& grid, const SourceSnapshot* snapshot,
                                 std::size_t source, std::size_t destination);

// The row has no window where the pair has none yet. The view is valid as long as the snapshot.
PackedRow rowOf(const SourceSnapshot* snapshot, std::size_t destination);

using StateCounts = std::array<std::uint64_t, kPairStateNames.size()>;    // indexed by PairState
using SeverityCounts = std::array<std::uint64_t, kSeverityNames.size()>;  // indexed by Severity

// How many pairs of a probe have each combination of state and severity.
struct CellCounts {
  std::array<SeverityCounts, kPairStateNames.size()> of{};  // indexed by PairState

  StateCounts states() const;
  SeverityCounts severities() const;
  CellCounts& operator+=(const CellCounts& other);
};
CellCounts countPairs(const Board& board, const GridPlan& plan, std::uint32_t probe);

}  // namespace pingloom::controller
