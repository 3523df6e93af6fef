// The past: when there is something of it, a whole mesh at a time, a pair over a time. Questions
// are read here, on the HTTP thread, and answered on the reader's.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/grid_json.h"
#include "controller/http/pair_place.h"
#include "controller/past_rows.h"
#include "controller/row_json.h"

namespace pingloom::controller::api {
namespace {

using Plan = std::shared_ptr<const GridPlan>;

constexpr std::string_view kRoot = "/api/v1/history";
constexpr std::string_view kPairs = "/api/v1/history/pairs/";
constexpr Nanos kDefaultSpan = kHour;
constexpr std::uint64_t kDefaultPoints = 500;
constexpr std::uint64_t kMostPoints = 5000;
// Of a longer range some windows are left out: the reader has others to answer too.
constexpr std::uint64_t kMostWindows = 20'000;

tl::expected<Nanos, http::Response> timeOption(const http::Request& request, const char* name,
                                               Nanos without) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return without;
  const auto time = parseUtc(given->second);
  if (time) return *time;
  return tl::unexpected(
      http::errorResponse(400, fmt::format("the parameter '{}': {}", name, time.error().text())));
}

tl::expected<std::uint64_t, http::Response> numberOption(const http::Request& request,
                                                         const char* name, std::uint64_t without,
                                                         std::uint64_t most) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return without;
  const auto number = parseUnsigned(given->second, most);
  if (number) return *number;
  return tl::unexpected(http::errorResponse(
      400, fmt::format("the parameter '{}' is not a number up to {}", name, most)));
}

http::Response unreadable(const Error& error) { return http::errorResponse(503, error.text()); }

// Runs `answer` on the reader's thread.
http::Answer later(HistoryReader& reader, std::function<http::Response(History&)> answer) {
  return http::Later([&reader, answer = std::move(answer)](http::Respond respond) {
    const auto shared = std::make_shared<http::Respond>(std::move(respond));
    const bool taken = reader.ask([shared, answer](const Result<History*>& history) {
      const auto take = std::exchange(*shared, nullptr);
      take(history ? answer(**history) : unreadable(history.error()));
    });
    if (!taken) (*shared)(http::errorResponse(503, "too many questions about the past wait"));
  });
}

http::Response spanOf(History& history) {
  const auto span = history.span();
  if (!span) return unreadable(span.error());
  http::Response response;
  response.body = *span
                      ? fmt::format(R"({{"oldest":"{}","newest":"{}"}})",
                                    formatUtc((*span)->oldest_utc), formatUtc((*span)->newest_utc))
                      : R"({"oldest":null,"newest":null})";
  response.body += '\n';
  return response;
}

http::Response gridAt(History& history, const GridPlan& plan, const GridQuery& query, Nanos at) {
  const ProbeGrid& grid = plan.probes[query.probe];
  Snapshots snapshots;
  snapshots.reserve(grid.sources.size());
  for (const IpAddress& source : grid.sources) {
    const auto reports = history.at(grid.spec.name, source, at);
    if (!reports) return unreadable(reports.error());
    snapshots.push_back(pastSnapshot(grid, source, *reports));
  }
  http::Response response;
  response.body = gridJson(plan, query.probe, query.metric, query.metric_name, snapshots);
  return response;
}

http::Answer gridQuestion(const Plan& plan, HistoryReader& reader, const http::Request& request) {
  auto query = gridQuery(*plan, request);
  if (!query) return std::move(query.error());
  if (request.query.count("at") == 0) {
    return http::errorResponse(400, "the parameter 'at' is missing: at=2026-11-21T03:12:00Z");
  }
  const auto at = timeOption(request, "at", 0);
  if (!at) return at.error();
  return later(reader, [plan, query = *query, at = *at](History& history) {
    return gridAt(history, *plan, query, at);
  });
}

struct PairQuery {
  PairPlace place;
  std::uint32_t path = 0;
  Nanos from_utc = 0;
  Nanos until_utc = 0;
  std::uint64_t points = 0;
};

tl::expected<PairQuery, http::Response> pairQuery(const GridPlan& plan,
                                                  const http::Request& request) {
  const auto place = pairPlace(plan, std::string_view(request.path).substr(kPairs.size()));
  if (!place) return tl::unexpected(place.error());
  const auto until = timeOption(request, "to", utcNow());
  if (!until) return tl::unexpected(until.error());
  const auto from = timeOption(request, "from", std::max<Nanos>(*until - kDefaultSpan, 0));
  if (!from) return tl::unexpected(from.error());
  const auto path = numberOption(request, "path", 0, plan.probes[place->probe].paths());
  if (!path) return tl::unexpected(path.error());
  const auto points = numberOption(request, "points", kDefaultPoints, kMostPoints);
  if (!points) return tl::unexpected(points.error());
  if (*points == 0 || *from >= *until) {
    return tl::unexpected(http::errorResponse(
        400, *points == 0 ? "'points' must be at least 1" : "'from' must be before 'to'"));
  }
  return PairQuery{*place, static_cast<std::uint32_t>(*path), *from, *until, *points};
}

void appendPast(const ProbeGrid& grid, PastPair& pair, std::uint32_t path, std::string& rows) {
  if (pair.empty()) return;
  if (!rows.empty()) rows += ',';
  const Row row = pair.row();
  appendRowJson(grid.spec, pair.source(), row, pastState(row), rows, path);
  pair.clear();
}

http::Response pairOver(History& history, const GridPlan& plan, const PairQuery& query) {
  const ProbeGrid& grid = plan.probes[query.place.probe];
  PastRange range{grid.spec.name, grid.sources[query.place.source], query.path, query.from_utc,
                  query.until_utc};
  const auto count = history.count(range);
  if (!count) return unreadable(count.error());
  range.every = (*count + kMostWindows - 1) / kMostWindows;
  range.every = std::max<std::uint64_t>(range.every, 1);
  const std::uint64_t together =
      std::max<std::uint64_t>((*count / range.every + query.points - 1) / query.points, 1);
  PastPair pair(grid.destinations[query.place.destination]);
  std::string rows;
  const auto status = history.visit(range, [&](const PastReport& report) {
    pair.add(report);
    if (pair.windows() == together) appendPast(grid, pair, query.path, rows);
  });
  if (!status) return unreadable(status.error());
  appendPast(grid, pair, query.path, rows);
  http::Response response;
  response.body = fmt::format(
      R"({{"probe":"{}","source":"{}","destination":"{}","from":"{}","to":"{}","windows_per_row":{},"windows_read":"1/{}","rows":[)",
      grid.spec.name, range.source.text(), grid.destinations[query.place.destination].text(),
      formatUtc(query.from_utc), formatUtc(query.until_utc), together, range.every);
  response.body += rows + "]}\n";
  return response;
}

}  // namespace

http::Answer history(const Plan& plan, HistoryReader& reader, const http::Request& request) {
  const std::string_view path = request.path;
  if (path == kRoot) return later(reader, spanOf);
  if (path == "/api/v1/history/grid") return gridQuestion(plan, reader, request);
  if (path.starts_with(kPairs)) {
    auto query = pairQuery(*plan, request);
    if (!query) return std::move(query.error());
    return later(reader, [plan, query = *query](History& history) {
      return pairOver(history, *plan, query);
    });
  }
  return http::errorResponse(404, "nothing at " + request.path);
}

}  // namespace pingloom::controller::api
