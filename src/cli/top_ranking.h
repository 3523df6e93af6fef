// Ranks the worst pairs: the pure part of `pingloom top`. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/severity.h"

namespace pingloom::cli {

// What `pingloom top` shows and sorts by. The first four are figures, each of which is a metric of
// /api/v1/grid.
enum class TopSort : std::uint8_t { kNetworkP50, kNetworkP99, kRtt, kLoss, kState };
constexpr std::size_t kTopFigures = 4;
constexpr std::array<std::string_view, 5> kTopSortNames = {"network_p50", "network_p99", "rtt",
                                                           "loss", "state"};
std::optional<TopSort> topSortNamed(std::string_view text);

// The cells of one probe. Times are in nanoseconds, loss is a ratio.
struct TopGrid {
  std::string probe;
  std::vector<std::string> sources;
  std::vector<std::string> destinations;
  // Indexed by source * destinations.size() + destination; nullopt if the cell is not a pair or was
  // not measured.
  std::array<std::vector<std::optional<double>>, kTopFigures> figures;
  std::vector<std::optional<PairState>> states;
  // Indexed likewise; nullopt where there is no pair, and everywhere if the controller is too old
  // to judge.
  std::vector<std::optional<Severity>> severities = {};

  // REQUIRES: `which` is a figure.
  std::optional<double> figure(TopSort which, std::size_t cell) const {
    return figures[static_cast<std::size_t>(which)][cell];
  }
  std::optional<Severity> severity(std::size_t cell) const {
    return cell < severities.size() ? severities[cell] : std::nullopt;
  }
};

struct TopPair {
  std::uint32_t grid = 0;
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
};

// Returns the pairs whose "PROBE SOURCE DESTINATION STATE SEVERITY" contains `filter`, worst first.
// Pairs without the figure come last; ties are ordered by what is judged, then by state and loss,
// then by their order in the grids. The order of kState begins with what is judged.
std::vector<TopPair> rankPairs(const std::vector<TopGrid>& grids, TopSort sort,
                               std::string_view filter);

}  // namespace pingloom::cli
