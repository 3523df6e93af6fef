#include <fmt/format.h>

#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/csv.h"
#include "controller/http/grid_csv.h"
#include "controller/http/live_frames.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller::api {
namespace {

tl::expected<GridFormat, http::Response> gridFormat(const http::Request& request) {
  const auto given = request.query.find("format");
  if (given != request.query.end() && given->second == "cells") return GridFormat::kCells;
  const auto csv = wantsCsv(request);
  if (!csv) {
    return tl::unexpected(
        http::errorResponse(400, "the parameter 'format' must be json, csv or cells"));
  }
  return *csv ? GridFormat::kCsv : GridFormat::kJson;
}

}  // namespace

void fillLine(const ProbeGrid& grid, const Metric& metric, std::size_t source,
              const SourceSnapshot* snapshot, GridLine& line) {
  const SourceRows* rows = snapshot == nullptr ? nullptr : snapshot->rows.get();
  line.start_utc.reset();
  if (rows != nullptr) {
    line.start_utc = rows->window_start_utc;
    line.window = rows->window;
  }
  line.judged = snapshot == nullptr ? nullptr : &snapshot->judged;
  line.states.resize(grid.destinations.size());
  line.values.resize(grid.destinations.size());
  for (std::size_t i = 0; i < grid.destinations.size(); ++i) {
    line.states[i] = stateOf(grid, snapshot, source, i);
    line.values[i] = metric.of(rowOf(snapshot, i));
  }
}

tl::expected<GridQuery, http::Response> gridQuery(const GridPlan& plan,
                                                  const http::Request& request) {
  for (const char* needed : {"probe", "metric"}) {
    if (request.query.count(needed) == 0) {
      return tl::unexpected(http::errorResponse(
          400,
          fmt::format("the parameter '{0}' is missing; write {1}?probe=NAME&metric=network_p50",
                      needed, request.path)));
    }
  }
  const std::string& metric_name = request.query.at("metric");
  const auto metric = Metric::parse(metric_name);
  if (!metric) return tl::unexpected(http::errorResponse(400, metric.error().text()));
  const std::string& probe_name = request.query.at("probe");
  const auto probe = probeNamed(plan, probe_name);
  if (!probe) return tl::unexpected(unknownProbe(plan, probe_name));
  const auto format = gridFormat(request);
  if (!format) return tl::unexpected(format.error());
  return GridQuery{*probe, *metric, metric_name, *format};
}

http::Response grid(const Board& board, const http::Request& request) {
  const auto plan = board.plan();
  auto query = gridQuery(*plan, request);
  if (!query) return std::move(query.error());
  if (query->format == GridFormat::kCsv) return csvOf(board, plan, std::move(*query));
  const ProbeGrid& grid = plan->probes[query->probe];
  auto snapshots = board.sources(query->probe, plan->generation);
  snapshots.resize(grid.sources.size());  // the board has none just after a change of the plan
  const auto writer = gridWriter(*plan, *query);
  // The usual length of a value, a state and a severity.
  const std::size_t cell_bytes = query->format == GridFormat::kCells ? kLiveBytesPerCell : 18;
  writer->text().reserve(grid.sources.size() * grid.destinations.size() * cell_bytes);
  GridLine line;
  for (std::size_t source = 0; source < snapshots.size(); ++source) {
    fillLine(grid, query->metric, source, snapshots[source].get(), line);
    writer->add(line);
  }
  return writer->finish();
}

}  // namespace pingloom::controller::api
