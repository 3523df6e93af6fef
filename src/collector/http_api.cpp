#include "collector/http_api.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "collector/applications_document.h"
#include "collector/metrics_protobuf.h"
#include "collector/pages_document.h"
#include "collector/watch/watch_json.h"
#include "collector/watch/watcher.h"
#include "common/json_text.h"
#include "common/metrics_text.h"

namespace pingloom::collector {
namespace {

using Json = nlohmann::ordered_json;

http::Response metrics(MetricsSources from, const http::Request& request, bool adaptive) {
  if (const auto asked = request.query.find("histograms"); asked != request.query.end()) {
    const auto exact = exactHistograms(asked->second);
    if (!exact) return http::errorResponse(400, std::string("histograms: ") + kHistogramWords);
    from.exact_histograms = *exact;
  }
  const auto all = adaptive ? adaptiveMetrics : allMetrics;
  if (MetricsProtobuf::isWanted(request.accept)) {
    http::Response response;
    response.content_type = MetricsProtobuf::kContentType;
    response.body = all(from, [] { return std::make_unique<MetricsProtobuf>(); });
    return response;
  }
  const MetricsFormat format = MetricsText::formatFor(request.accept);
  const auto make = [format] { return std::make_unique<MetricsText>(format); };
  http::Response response;
  response.content_type = MetricsText::contentType(format);
  response.body = all(from, make);
  MetricsText end(format);
  end.finish();
  response.body += end.text();
  return response;
}

http::Response health(const Board& board) {
  std::size_t reading = 0;
  const auto entries = board.entries();
  for (const auto& entry : entries) {
    reading += entry->head().state == LinkState::kReading ? 1 : 0;
  }
  http::Response response;
  response.body = jsonLine(Json{{"agents", entries.size()}, {"reading", reading}}) + "\n";
  return response;
}

http::Response eventsOf(const Watcher& watcher, const http::Request& request) {
  if (auto refused = http::refusedParameter(request, {})) return std::move(*refused);
  Json events = Json::array();
  for (const WatchEvent& event : watcher.events()) events.push_back(eventJson(event));
  http::Response response;
  response.body = jsonLine(Json{{"events", events}}) + "\n";
  return response;
}

// How many of an application's traces a tracer keeps: all while it is anomalous anywhere, because a
// trace crosses hosts.
http::Response sampling(const Watcher& watcher, const http::Request& request) {
  if (auto refused = http::refusedParameter(request, {"application"})) return std::move(*refused);
  const auto wanted = request.query.find("application");
  if (wanted == request.query.end()) {
    return http::errorResponse(400, "name the application: ?application=NAME");
  }
  const ApplicationState state = watcher.stateOf(wanted->second);
  if (!state.known) {
    return http::errorResponse(404, "no application '" + wanted->second + "' is watched");
  }
  const bool anomalous = !state.anomalous_hosts.empty();
  http::Response response;
  response.body = jsonLine(Json{{"application", wanted->second},
                                {"anomalous", anomalous},
                                {"keep_one_in", anomalous ? 1 : watcher.traceOneIn()},
                                {"hosts", state.anomalous_hosts}}) +
                  "\n";
  return response;
}

// What is answered where pages are watched.
http::Response watchAnswer(const MetricsSources& from, const http::Request& request) {
  if (from.watcher == nullptr) {
    return http::errorResponse(404, "pages are not watched; configure 'analytics:'");
  }
  if (request.path == "/api/v1/events") return eventsOf(*from.watcher, request);
  if (request.path == "/api/v1/sampling") return sampling(*from.watcher, request);
  return metrics(from, request, true);
}

}  // namespace

http::Response answer(const MetricsSources& from, const http::Request& request) {
  if (request.method != "GET") return http::errorResponse(405, "only GET is answered here");
  if (request.path == "/metrics") return metrics(from, request, false);
  if (request.path == "/healthz") return health(from.board);
  if (request.path == "/api/v1/pages") return pagesDocument(from.board, from.watcher, request);
  if (request.path == "/api/v1/applications") {
    return applicationsDocument(from.board, from.watcher, request);
  }
  if (request.path == "/metrics/adaptive" || request.path == "/api/v1/events" ||
      request.path == "/api/v1/sampling") {
    return watchAnswer(from, request);
  }
  return http::errorResponse(
      404,
      "there are /metrics, /metrics/adaptive, /healthz, /api/v1/pages, /api/v1/applications, "
      "/api/v1/events, "
      "/api/v1/sampling, "
      "and /api/v1/dta/ with tables, get, count, top, path and tail");
}

}  // namespace pingloom::collector
