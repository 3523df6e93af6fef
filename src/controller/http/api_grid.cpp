#include <fmt/format.h>

#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/csv.h"

namespace pingloom::controller::api {

tl::expected<GridQuery, http::Response> gridQuery(const GridPlan& plan,
                                                  const http::Request& request) {
  for (const char* needed : {"probe", "metric"}) {
    if (request.query.count(needed) == 0) {
      return tl::unexpected(http::errorResponse(
          400, fmt::format("the parameter '{0}' is missing: {1}?probe=NAME&metric=network_p50",
                           needed, request.path)));
    }
  }
  const std::string& metric_name = request.query.at("metric");
  const auto metric = Metric::parse(metric_name);
  if (!metric) return tl::unexpected(http::errorResponse(400, metric.error().text()));
  const std::string& probe_name = request.query.at("probe");
  const auto probe = probeNamed(plan, probe_name);
  if (!probe) return tl::unexpected(unknownProbe(plan, probe_name));
  const auto csv = wantsCsv(request);
  if (!csv) return tl::unexpected(csv.error());
  return GridQuery{*probe, *metric, metric_name, *csv};
}

http::Response gridResponse(const GridPlan& plan, const GridQuery& query,
                            const Snapshots& snapshots) {
  http::Response response;
  if (query.csv) {
    response.body = gridCsv(plan, query.probe, query.metric, query.metric_name, snapshots);
    response.content_type = kCsvType;
  } else {
    response.body = gridJson(plan, query.probe, query.metric, query.metric_name, snapshots);
  }
  return response;
}

http::Response grid(const Board& board, const http::Request& request) {
  const auto plan = board.plan();
  auto query = gridQuery(*plan, request);
  if (!query) return std::move(query.error());
  Snapshots snapshots = board.sources(query->probe, plan->generation);
  // Empty when the plan has just changed.
  snapshots.resize(plan->probes[query->probe].sources.size());
  return gridResponse(*plan, *query, snapshots);
}

}  // namespace pingloom::controller::api
