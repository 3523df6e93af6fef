#include "cli/top_source.h"

#include <array>
#include <nlohmann/json.hpp>

#include "cli/controller_api.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, kTopFigures> kMetrics = {"network_p50", "network_p99",
                                                                "rtt_p50", "loss"};

tl::unexpected<Error> badGrid(const std::string& reason) {
  return makeError("/api/v1/grid", reason + "; do controller and pingloom have the same version?");
}

Result<std::vector<std::string>> strings(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return badGrid(std::string("no array ") + key);
  std::vector<std::string> texts;
  for (const Json& item : *found) {
    if (!item.is_string())
      return badGrid(std::string(key) + " contains something that is not text");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

// Reads a matrix of `rows` x `columns` cells and passes each to `take` with its number.
template <typename Take>
Status eachCell(const Json& json, const char* key, std::size_t rows, std::size_t columns,
                Take take) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->size() != rows) {
    return badGrid(std::string(key) + " does not fit sources");
  }
  std::size_t cell = 0;
  for (const Json& line : *found) {
    if (!line.is_array() || line.size() != columns) {
      return badGrid(std::string(key) + " does not fit destinations");
    }
    for (const Json& value : line) take(cell++, value);
  }
  return {};
}

std::optional<PairState> stateNamed(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  for (std::size_t i = 0; i < kPairStateNames.size(); ++i) {
    if (kPairStateNames[i] == value.get_ref<const std::string&>()) {
      return static_cast<PairState>(i);
    }
  }
  return std::nullopt;
}

// A controller that does not judge has no "severities", and for a past time they are null.
Status addSeverities(const Json& json, TopGrid& grid) {
  const auto found = json.find("severities");
  if (found == json.end() || found->is_null()) return {};
  const std::size_t columns = grid.destinations.size();
  grid.severities.assign(grid.sources.size() * columns, std::nullopt);
  return eachCell(json, "severities", grid.sources.size(), columns,
                  [&](std::size_t cell, const Json& value) {
                    if (!value.is_string()) return;
                    grid.severities[cell] = severityNamed(value.get_ref<const std::string&>());
                  });
}

Status setShape(const Json& json, TopGrid& grid) {
  auto sources = strings(json, "sources");
  if (!sources) return tl::unexpected(sources.error());
  auto destinations = strings(json, "destinations");
  if (!destinations) return tl::unexpected(destinations.error());
  const bool first = grid.states.empty();
  if (!first && (*sources != grid.sources || *destinations != grid.destinations)) {
    return badGrid("the pinglist changed between two queries");
  }
  grid.sources = std::move(*sources);
  grid.destinations = std::move(*destinations);
  grid.states.resize(grid.sources.size() * grid.destinations.size());
  return {};
}

}  // namespace

Status addFigure(std::string_view body, TopSort figure, TopGrid& grid) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return badGrid("the answer is not a JSON object");
  if (Status shaped = setShape(json, grid); !shaped) return shaped;
  const std::size_t rows = grid.sources.size();
  const std::size_t columns = grid.destinations.size();
  auto& cells = grid.figures[static_cast<std::size_t>(figure)];
  cells.assign(rows * columns, std::nullopt);
  Status values = eachCell(json, "values", rows, columns, [&](std::size_t cell, const Json& value) {
    if (value.is_number()) cells[cell] = value.get<double>();
  });
  if (!values) return values;
  if (Status judged = addSeverities(json, grid); !judged) return judged;
  return eachCell(json, "states", rows, columns, [&](std::size_t cell, const Json& value) {
    grid.states[cell] = stateNamed(value);
  });
}

Result<std::vector<std::string>> fetchProbeNames(const http::Site& site, Nanos timeout) {
  const auto json = askControllerJson(site, "/api/v1/probes", timeout);
  if (!json) return tl::unexpected(json.error());
  std::vector<std::string> names;
  const auto list = json->is_object() ? json->find("probes") : json->end();
  if (list == json->end()) return names;
  for (const Json& probe : *list) {
    const auto name = probe.is_object() ? probe.find("name") : probe.end();
    if (name != probe.end() && name->is_string()) names.push_back(name->get<std::string>());
  }
  return names;
}

Result<TopGrid> fetchTopGrid(const http::Site& site, const std::string& probe, Nanos timeout) {
  TopGrid grid;
  grid.probe = probe;
  for (std::size_t i = 0; i < kTopFigures; ++i) {
    const auto body = askController(
        site, "/api/v1/grid?probe=" + probe + "&metric=" + std::string(kMetrics[i]), timeout);
    if (!body) return tl::unexpected(body.error());
    const Status added = addFigure(*body, static_cast<TopSort>(i), grid);
    if (!added) return tl::unexpected(added.error());
  }
  return grid;
}

}  // namespace pingloom::cli
