#include "cli/top_ranking.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace pingloom::cli {
namespace {

struct Candidate {
  double figure;
  int judged;
  int severity;
  double loss;
  TopPair pair;
};

constexpr double kNoFigure = -std::numeric_limits<double>::infinity();

double rankedFigure(const TopGrid& grid, TopSort sort, std::size_t cell) {
  return grid.figure(sort, cell).value_or(kNoFigure);
}

// A pair that is not judged ranks as one that is well.
int judgedRank(const TopGrid& grid, std::size_t cell) {
  const Severity judged = grid.severity(cell).value_or(Severity::kNone);
  return judged <= Severity::kOk ? 0 : static_cast<int>(judged);
}

bool matches(const TopGrid& grid, const TopPair& pair, std::size_t cell, std::string_view filter) {
  if (filter.empty()) return true;
  std::string text = grid.probe;
  text.append(" ").append(grid.sources[pair.source]);
  text.append(" ").append(grid.destinations[pair.destination]);
  text.append(" ").append(name(*grid.states[cell]));
  if (const auto judged = grid.severity(cell)) text.append(" ").append(name(*judged));
  return text.find(filter) != std::string::npos;
}

}  // namespace

std::optional<TopSort> topSortNamed(std::string_view text) {
  for (std::size_t i = 0; i < kTopSortNames.size(); ++i) {
    if (kTopSortNames[i] == text) return static_cast<TopSort>(i);
  }
  return std::nullopt;
}

std::vector<TopPair> rankPairs(const std::vector<TopGrid>& grids, TopSort sort,
                               std::string_view filter) {
  std::vector<Candidate> candidates;
  for (std::uint32_t g = 0; g < grids.size(); ++g) {
    const TopGrid& grid = grids[g];
    const std::size_t columns = grid.destinations.size();
    for (std::size_t cell = 0; cell < grid.states.size(); ++cell) {
      if (!grid.states[cell]) continue;
      const TopPair pair{g, static_cast<std::uint32_t>(cell / columns),
                         static_cast<std::uint32_t>(cell % columns)};
      if (!matches(grid, pair, cell, filter)) continue;
      const int bad = severity(*grid.states[cell]);
      const int judged = judgedRank(grid, cell);
      const double figure = sort == TopSort::kState ? judged : rankedFigure(grid, sort, cell);
      candidates.push_back({figure, judged, bad, rankedFigure(grid, TopSort::kLoss, cell), pair});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::tie(a.figure, a.judged, a.severity, a.loss) >
           std::tie(b.figure, b.judged, b.severity, b.loss);
  });
  std::vector<TopPair> ranked;
  ranked.reserve(candidates.size());
  for (const Candidate& candidate : candidates) ranked.push_back(candidate.pair);
  return ranked;
}

}  // namespace pingloom::cli
