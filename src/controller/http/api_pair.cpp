#include <fmt/format.h>

#include <algorithm>

#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/row_json.h"
#include "http/json_text.h"

namespace pingloom::controller::api {
namespace {

using http::appendJsonString;

std::optional<std::size_t> indexOf(const plan::AddressList& list, const IpAddress& address) {
  const auto found = std::lower_bound(list.begin(), list.end(), address);
  if (found == list.end() || *found != address) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

struct Place {
  std::uint32_t probe = 0;
  std::size_t source = 0;
  std::size_t destination = 0;
};

// Where the pair is; the error's reason is for the answer.
Result<Place> placeOf(const GridPlan& plan, std::uint32_t probe, const std::string& source_text,
                      const std::string& destination_text) {
  const ProbeGrid& grid = plan.probes[probe];
  const auto source_address = IpAddress::parse(source_text);
  const auto destination_address = IpAddress::parse(destination_text);
  if (!source_address) return tl::unexpected(source_address.error());
  if (!destination_address) return tl::unexpected(destination_address.error());
  const auto source = indexOf(grid.sources, *source_address);
  const auto destination = indexOf(grid.destinations, *destination_address);
  if (!source) return makeError(source_text, "not a source of probe " + grid.spec.name);
  if (!destination) {
    return makeError(destination_text, "not a destination of probe " + grid.spec.name);
  }
  if (!isPair(grid, *source, *destination)) {
    return makeError(source_text + " to " + destination_text,
                     "not a pair of probe " + grid.spec.name);
  }
  return Place{probe, *source, *destination};
}

void appendMember(std::string& out, std::string_view key, std::string_view text) {
  appendJsonString(out, key);
  out += ':';
  appendJsonString(out, text);
  out += ',';
}

// The rows of each path beside their merge, into the same object.
void appendPaths(std::string& out, const ProbeGrid& grid, const SourceSnapshot& snapshot,
                 std::size_t destination) {
  if (grid.paths() == 0) return;
  out.back() = ',';
  out += R"("paths":[)";
  for (std::uint32_t path = 1; path <= snapshot.rows->paths.size(); ++path) {
    const Rows* rows = snapshot.rows->ofPath(path);
    if (rows == nullptr || (*rows)[destination].sent == 0) continue;
    const States& states = snapshot.statesOf(path);
    PairState state = PairState::kPending;
    if (destination < states.size() && states[destination]) state = *states[destination];
    if (out.back() != '[') out += ',';
    appendRowJson(grid.spec, *snapshot.rows, (*rows)[destination], state, out, path);
  }
  out += "]}";
}

// The row's own object follows the names in the same object.
std::string pairJson(const GridPlan& plan, const Place& place, const SourceSnapshot* snapshot) {
  const ProbeGrid& grid = plan.probes[place.probe];
  const IpAddress& source = grid.sources[place.source];
  const IpAddress& destination = grid.destinations[place.destination];
  const auto name_of = [&plan](const IpAddress& address) {
    return plan.pinglist == nullptr ? address.text() : plan.pinglist->nameOf(address);
  };
  std::string out = "{";
  appendMember(out, "probe", grid.spec.name);
  appendMember(out, "source", source.text());
  appendMember(out, "source_name", name_of(source));
  appendMember(out, "destination", destination.text());
  appendMember(out, "destination_name", name_of(destination));

  const auto state = stateOf(grid, snapshot, place.source, place.destination);
  const Row* row = rowOf(snapshot, place.destination);
  if (row != nullptr && state) {
    std::string row_json;
    appendRowJson(grid.spec, *snapshot->rows, *row, *state, row_json);
    out.append(row_json, 1);  // without its '{'
    appendPaths(out, grid, *snapshot, place.destination);
  } else {
    appendMember(out, "protocol", name(grid.spec.protocol));
    appendMember(out, "state", name(state.value_or(PairState::kPending)));
    out.back() = '}';
  }
  out += '\n';
  return out;
}

}  // namespace

http::Response pair(const Board& board, std::string_view pair) {
  const std::size_t first = std::min(pair.find('/'), pair.size());
  const std::size_t second = std::min(pair.find('/', first + 1), pair.size());
  if (second == pair.size() || pair.find('/', second + 1) != std::string_view::npos) {
    return http::errorResponse(404, "the path must be /api/v1/pairs/PROBE/SOURCE/DESTINATION");
  }
  const auto plan = board.plan();
  const std::string probe_name(pair.substr(0, first));
  const auto probe = probeNamed(*plan, probe_name);
  if (!probe) return unknownProbe(*plan, probe_name);
  const auto place = placeOf(*plan, *probe, std::string(pair.substr(first + 1, second - first - 1)),
                             std::string(pair.substr(second + 1)));
  if (!place) return http::errorResponse(404, place.error().text());
  const auto snapshot =
      board.source(place->probe, static_cast<std::uint32_t>(place->source), plan->generation);
  http::Response response;
  response.body = pairJson(*plan, *place, snapshot.get());
  return response;
}

}  // namespace pingloom::controller::api
