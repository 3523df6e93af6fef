// The past: the span of history, and a pair over a range of time. The HTTP thread parses the
// questions, and the reader's thread answers them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/history/event_reader.h"
#include "controller/history/past_pair.h"
#include "controller/history/past_presence.h"
#include "controller/history/past_severities.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/pair_place.h"
#include "controller/http/past_grid.h"
#include "controller/http/past_query.h"
#include "controller/model/report_reader.h"
#include "controller/model/row_json.h"

namespace pingloom::controller::api {
namespace {

using Plan = std::shared_ptr<const GridPlan>;

constexpr std::string_view kRoot = "/api/v1/history";
constexpr std::string_view kPairs = "/api/v1/history/pairs/";
constexpr std::uint64_t kDefaultPoints = 500;
constexpr std::uint64_t kMaxPoints = 5000;
// An answer about a longer range omits windows, because the reader has other questions to answer.
constexpr std::uint64_t kMaxWindows = 20'000;

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
  const auto range = rangeOption(request);
  if (!range) return tl::unexpected(range.error());
  const auto path = numberOption(request, "path", 0, plan.probes[place->probe].paths());
  if (!path) return tl::unexpected(path.error());
  const auto points = numberOption(request, "points", kDefaultPoints, kMaxPoints);
  if (!points) return tl::unexpected(points.error());
  if (*points == 0) {
    return tl::unexpected(http::errorResponse(400, "the parameter 'points' must be at least 1"));
  }
  return PairQuery{*place, static_cast<std::uint32_t>(*path), range->from_utc, range->until_utc,
                   *points};
}

// What the windows of a pair do not tell.
struct PairPast {
  PastPresence presence;
  PastSeverities::Timeline severities;
};

Result<PairPast> readPairPast(History& history, const ProbeGrid& grid, const PairQuery& query) {
  const IpAddress& destination = grid.destinations[query.place.destination];
  const Nanos until = query.until_utc + kMaxWindow;
  auto presence = readPresence(history.database(), query.from_utc, until, destination);
  if (!presence) return tl::unexpected(presence.error());
  auto severities = PastSeverities::open(history.database());
  if (!severities) return tl::unexpected(severities.error());
  auto timeline = severities->timeline(grid.spec.name, grid.sources[query.place.source],
                                       destination, query.from_utc, until);
  if (!timeline) return tl::unexpected(timeline.error());
  return PairPast{std::move(*presence), std::move(*timeline)};
}

void appendPast(const ProbeGrid& grid, const PairQuery& query, const PairPast& past, PastPair& pair,
                std::string& rows) {
  if (pair.empty()) return;
  if (!rows.empty()) rows += ',';
  const Row row = pair.row();
  const SourceRows source = pair.source();
  const IpAddress& destination = grid.destinations[query.place.destination];
  const PairState state = stateWithPresence(grid.spec, source, row, destination, past.presence);
  RowJsonOptions options{.path = query.path, .rolled_up = pair.rolledUp()};
  if (query.path == 0) {  // paths are not judged
    options.judged =
        Judged{worstIn(past.severities, source.window_start_utc, source.endUtc(), state), 0};
  }
  RowJson(grid.spec, source).append(row, state, rows, options);
  pair.clear();
}

http::Response pairOver(HistoryReader& reader, History& history, const GridPlan& plan,
                        const PairQuery& query) {
  const ProbeGrid& grid = plan.probes[query.place.probe];
  PastRange range{grid.spec.name, grid.sources[query.place.source], query.path, query.from_utc,
                  query.until_utc};
  const auto count = history.count(range);
  if (!count) return unreadable(count.error());
  range.every = (*count + kMaxWindows - 1) / kMaxWindows;
  range.every = std::max<std::uint64_t>(range.every, 1);
  const std::uint64_t together =
      std::max<std::uint64_t>((*count / range.every + query.points - 1) / query.points, 1);
  const IpAddress& destination = grid.destinations[query.place.destination];
  const auto past = readPairPast(history, grid, query);
  if (!past) return unreadable(past.error());
  PastPair pair(destination);
  std::string rows;
  const auto status = history.visit(range, [&](const PastContent& content) {
    pair.add(content);
    if (pair.windows() == together) appendPast(grid, query, *past, pair, rows);
  });
  if (!status) return unreadable(status.error());
  reader.reportDamaged(pair.damaged());
  appendPast(grid, query, *past, pair, rows);
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
  if (path == "/api/v1/history/grid") return pastGrid(plan, reader, request);
  if (path == "/api/v1/history/events") return events(plan, reader, request);
  if (path.starts_with(kPairs)) {
    auto query = pairQuery(*plan, request);
    if (!query) return std::move(query.error());
    return later(reader, [&reader, plan, query = *query](History& history) {
      return pairOver(reader, history, *plan, query);
    });
  }
  return http::errorResponse(404, "nothing at " + request.path);
}

}  // namespace pingloom::controller::api
