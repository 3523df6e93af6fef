#include <fmt/format.h>

#include <algorithm>

#include "common/json_text.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/pair_place.h"
#include "controller/model/row_json.h"

namespace pingloom::controller::api {
namespace {

// Appends the rows of the paths to the object of their merge.
void appendPaths(std::string& out, const ProbeGrid& grid, const SourceSnapshot& snapshot,
                 std::size_t destination) {
  if (grid.paths() == 0) return;
  out.back() = ',';
  out += R"("paths":[)";
  const RowJson json(grid.spec, *snapshot.rows);
  for (std::uint32_t path = 1; path <= snapshot.rows->paths.size(); ++path) {
    const Rows* rows = snapshot.rows->ofPath(path);
    if (rows == nullptr || !rows->packed(destination).hasWindow()) continue;
    const States& states = snapshot.statesOf(path);
    PairState state = PairState::kPending;
    if (destination < states.size() && states[destination]) state = *states[destination];
    if (out.back() != '[') out += ',';
    json.append((*rows)[destination], state, out, {.path = path});
  }
  out += "]}";
}

// Puts the names and the members of the row into one object.
std::string pairJson(const GridPlan& plan, const PairPlace& place, const SourceSnapshot* snapshot) {
  const ProbeGrid& grid = plan.probes[place.probe];
  const IpAddress& source = grid.sources[place.source];
  const IpAddress& destination = grid.destinations[place.destination];
  std::string out = "{";
  appendJsonMember(out, "probe", grid.spec.name);
  appendJsonMember(out, "source", source.text());
  appendJsonMember(out, "source_name", plan.nameOf(source));
  appendJsonMember(out, "destination", destination.text());
  appendJsonMember(out, "destination_name", plan.nameOf(destination));

  const auto state = stateOf(grid, snapshot, place.source, place.destination);
  const PackedRow row = rowOf(snapshot, place.destination);
  if (row.hasWindow() && state) {
    std::string row_json;
    RowJson(grid.spec, *snapshot->rows)
        .append(
            row.row(), *state, row_json,
            {.judged = snapshot->judgedOf(0, place.destination), .baseline = &snapshot->baseline});
    out.append(row_json, 1);  // without its '{'
    appendPaths(out, grid, *snapshot, place.destination);
  } else {
    appendJsonMember(out, "protocol", name(grid.spec.protocol));
    appendJsonMember(out, "state", name(state.value_or(PairState::kPending)));
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
