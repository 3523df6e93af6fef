#include "cli/top_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/top_source.h"
#include "common/duration.h"
#include "common/json_text.h"
#include "common/text.h"

namespace pingloom::cli {
namespace {

using nlohmann::ordered_json;

std::optional<double> figureOf(const TopMesh& mesh, const TopPair& pair, TopSort figure) {
  const TopGrid& grid = mesh.grids[pair.grid];
  return grid.figure(figure, pair.source * grid.destinations.size() + pair.destination);
}

std::string nanosCell(const std::optional<double>& value) {
  return value ? humanNanos(static_cast<Nanos>(*value)) : "-";
}

std::string lossCell(const std::optional<double>& value) {
  if (!value) return "-";
  return *value > 0 ? fmt::format("{:.3g} %", *value * 100) : "0 %";
}

std::string severityCell(const std::optional<Severity>& severity) {
  return severity ? std::string(name(*severity)) : "-";
}

}  // namespace

Result<TopMesh> fetchTopMesh(const TopQuery& query, Nanos timeout) {
  const auto names = fetchProbeNames(query.site, timeout);
  if (!names) return tl::unexpected(names.error());
  if (!query.probe.empty() &&
      std::find(names->begin(), names->end(), query.probe) == names->end()) {
    return makeError("probe '" + query.probe + "'",
                     names->empty() ? "the controller has no probes"
                                    : "the controller has only " + join(*names, ", "));
  }
  TopMesh mesh;
  for (const std::string& name : *names) {
    if (!query.probe.empty() && name != query.probe) continue;
    auto grid = fetchTopGrid(query.site, name, timeout);
    if (!grid) return tl::unexpected(grid.error());
    mesh.grids.push_back(std::move(*grid));
  }
  mesh.ranked = rankPairs(mesh.grids, query.sort, query.filter);
  return mesh;
}

const TextTable::Cells& topHeader() {
  static const TextTable::Cells header = {"PROBE",   "SOURCE",  "DESTINATION", "STATE", "SEVERITY",
                                          "NET P50", "NET P99", "RTT P50",     "LOSS"};
  return header;
}

TextTable::Cells topCells(const TopMesh& mesh, const TopPair& pair) {
  const TopGrid& grid = mesh.grids[pair.grid];
  return {printable(grid.probe),
          printable(grid.sources[pair.source]),
          printable(grid.destinations[pair.destination]),
          std::string(name(topState(mesh, pair))),
          severityCell(topSeverity(mesh, pair)),
          nanosCell(figureOf(mesh, pair, TopSort::kNetworkP50)),
          nanosCell(figureOf(mesh, pair, TopSort::kNetworkP99)),
          nanosCell(figureOf(mesh, pair, TopSort::kRtt)),
          lossCell(figureOf(mesh, pair, TopSort::kLoss))};
}

PairState topState(const TopMesh& mesh, const TopPair& pair) {
  const TopGrid& grid = mesh.grids[pair.grid];
  const auto state = grid.states[pair.source * grid.destinations.size() + pair.destination];
  return state.value_or(PairState::kPending);  // ranked pairs always have one
}

std::optional<Severity> topSeverity(const TopMesh& mesh, const TopPair& pair) {
  const TopGrid& grid = mesh.grids[pair.grid];
  return grid.severity(pair.source * grid.destinations.size() + pair.destination);
}

std::string topJson(const TopMesh& mesh, TopSort sort, std::size_t limit) {
  ordered_json pairs = ordered_json::array();
  for (std::size_t i = 0; i < std::min(limit, mesh.ranked.size()); ++i) {
    const TopPair& pair = mesh.ranked[i];
    const TopGrid& grid = mesh.grids[pair.grid];
    auto figure = [&](TopSort which) {
      const auto value = figureOf(mesh, pair, which);
      return value ? ordered_json(*value) : ordered_json();
    };
    auto nanos = [&](TopSort which) {
      const auto value = figureOf(mesh, pair, which);
      return value ? ordered_json(static_cast<Nanos>(*value)) : ordered_json();
    };
    const auto judged = topSeverity(mesh, pair);
    pairs.push_back({{"probe", grid.probe},
                     {"source", grid.sources[pair.source]},
                     {"destination", grid.destinations[pair.destination]},
                     {"state", name(topState(mesh, pair))},
                     {"severity", judged ? ordered_json(name(*judged)) : ordered_json()},
                     {"network_p50_ns", nanos(TopSort::kNetworkP50)},
                     {"network_p99_ns", nanos(TopSort::kNetworkP99)},
                     {"rtt_p50_ns", nanos(TopSort::kRtt)},
                     {"loss", figure(TopSort::kLoss)}});
  }
  const ordered_json document = {{"sort", kTopSortNames[static_cast<std::size_t>(sort)]},
                                 {"pairs_total", mesh.ranked.size()},
                                 {"pairs", std::move(pairs)}};
  return jsonLine(document);
}

}  // namespace pingloom::cli
