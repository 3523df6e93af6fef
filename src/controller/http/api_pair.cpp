#include <fmt/format.h>

#include <algorithm>

#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/pair_place.h"
#include "controller/model/row_json.h"
#include "http/json_text.h"

namespace pingloom::controller::api {
namespace {

using http::appendJsonString;

// Appends the rows of the paths to the object of their merge.
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

// Puts the names and the members of the row into one object.
std::string pairJson(const GridPlan& plan, const PairPlace& place, const SourceSnapshot* snapshot) {
  const ProbeGrid& grid = plan.probes[place.probe];
  const IpAddress& source = grid.sources[place.source];
  const IpAddress& destination = grid.destinations[place.destination];
  std::string out = "{";
  http::appendJsonMember(out, "probe", grid.spec.name);
  http::appendJsonMember(out, "source", source.text());
  http::appendJsonMember(out, "source_name", plan.nameOf(source));
  http::appendJsonMember(out, "destination", destination.text());
  http::appendJsonMember(out, "destination_name", plan.nameOf(destination));

  const auto state = stateOf(grid, snapshot, place.source, place.destination);
  const Row* row = rowOf(snapshot, place.destination);
  if (row != nullptr && state) {
    std::string row_json;
    appendRowJson(grid.spec, *snapshot->rows, *row, *state, row_json, 0, false,
                  snapshot->judgedOf(0, place.destination), &snapshot->baseline);
    out.append(row_json, 1);  // without its '{'
    appendPaths(out, grid, *snapshot, place.destination);
  } else {
    http::appendJsonMember(out, "protocol", name(grid.spec.protocol));
    http::appendJsonMember(out, "state", name(state.value_or(PairState::kPending)));
    out.back() = '}';
  }
  out += '\n';
  return out;
}

}  // namespace

http::Response pair(const Board& board, std::string_view pair) {
  const auto plan = board.plan();
  auto place = pairPlace(*plan, pair);
  if (!place) return std::move(place.error());
  const auto snapshot =
      board.source(place->probe, static_cast<std::uint32_t>(place->source), plan->generation);
  http::Response response;
  response.body = pairJson(*plan, *place, snapshot.get());
  return response;
}

}  // namespace pingloom::controller::api
