#include "collector/http_api.h"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "collector/exposition.h"
#include "collector/histogram_summary.h"
#include "collector/self_metrics.h"
#include "collector/watch/watcher.h"
#include "common/text.h"
#include "common/time.h"

namespace pingloom::collector {
namespace {

using Json = nlohmann::ordered_json;

// `adaptive`: of applications that are as usual now and then only; nothing else.
http::Response metrics(const Board& board, Watcher* watcher, const http::ServerCounters& counters,
                       const http::Request& request, bool adaptive) {
  const Format format = formatFor(request.accept);
  const Nanos now = monotonicNow();
  Exposition exposition(format);
  std::vector<AgentView> agents;
  for (const auto& entry : board.entries()) {
    AgentView agent = entry->copy();
    if (adaptive) watcher->keepExported(agent, now);
    exposition.add(agent, now);
    for (PageView& page : agent.pages) page.values.clear();  // their part is done
    agents.push_back(std::move(agent));
  }
  http::Response response;
  response.content_type = contentType(format);
  response.body = exposition.text();
  if (!adaptive) {
    response.body += selfMetrics(agents, exposition.counters(), counters, format, now);
  }
  if (!adaptive && watcher != nullptr) response.body += watcher->metrics(format);
  if (format == Format::kOpenMetrics) response.body += "# EOF\n";
  return response;
}

http::Response health(const Board& board) {
  std::size_t reading = 0;
  const auto entries = board.entries();
  for (const auto& entry : entries) {
    reading += entry->head().state == LinkState::kReading ? 1 : 0;
  }
  http::Response response;
  response.body = Json{{"agents", entries.size()}, {"reading", reading}}.dump() + "\n";
  return response;
}

Json labelsJson(const pages::Labels& labels) {
  Json json = Json::object();
  for (const auto& [name, value] : labels) json[name] = value;
  return json;
}

Json orNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json valueJson(const PageView& page, const pages::Metric& metric) {
  const std::uint64_t* slots = page.values.data() + metric.first_slot;
  if (metric.kind == PINGLOOM_COUNTER) return slots[0];
  if (metric.kind == PINGLOOM_GAUGE) {
    const auto value = std::bit_cast<double>(slots[0]);
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  if (metric.kind == PINGLOOM_INFO) return 1;
  const auto summary = summarize(metric, {slots, metric.slots});
  return {{"count", summary.count},
          {"sum", summary.sum},
          {"p50", orNull(summary.p50)},
          {"p99", orNull(summary.p99)}};
}

std::string_view kindName(pingloom_metric_kind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"", "counter", "gauge", "histogram", "info"};
  return kNames[static_cast<std::size_t>(kind)];
}

Json pageJson(const PageView& page, Nanos now) {
  const PageInfo& info = *page.info;
  Json json = {{"generation", info.generation},
               {"owner", info.owner},
               {"application", info.application},
               {"pid", info.process},
               {"uid", info.user},
               {"labels", labelsJson(info.labels)},
               {"state", name(page.state)},
               {"grouped", info.grouped},
               {"slots", page.slots},
               {"age_seconds", nullptr},
               {"metrics", Json::array()}};
  if (page.read != 0) json["age_seconds"] = static_cast<double>(now - page.read) / 1e9;
  for (const pages::Metric& metric : info.schema) {
    if (metric.first_slot + metric.slots > page.slots) continue;
    json["metrics"].push_back({{"name", metric.name},
                               {"kind", kindName(metric.kind)},
                               {"labels", labelsJson(metric.labels)},
                               {"value", valueJson(page, metric)}});
  }
  return json;
}

// As a page without metrics; whose it is shows who has to be looked at.
Json leftOutJson(const LeftOutPage& page) {
  return {{"generation", page.generation},
          {"owner", page.owner},
          {"application", page.application},
          {"pid", page.process},
          {"uid", page.user},
          {"labels", Json::object()},
          {"state", "left out"},
          {"reason", kPageFaults[static_cast<std::size_t>(page.fault)]},
          {"grouped", false},
          {"slots", 0},
          {"age_seconds", nullptr},
          {"metrics", Json::array()}};
}

// For somebody who asked for one that is not read.
http::Response noSuchAgent(const Board& board, const std::string& wanted) {
  constexpr std::size_t kNamesShown = 10;
  std::vector<std::string> names;
  const auto entries = board.entries();
  for (const auto& entry : entries) {
    if (names.size() == kNamesShown) break;
    const AgentView agent = entry->head();
    names.push_back(agent.host.empty() ? agent.agent : agent.host + " (" + agent.agent + ")");
  }
  std::string known = names.empty() ? "none is read yet" : "there are " + join(names, ", ");
  if (entries.size() > names.size()) {
    known += " and " + std::to_string(entries.size() - names.size()) + " more";
  }
  return http::errorResponse(404, "no agent '" + wanted + "' is read; " + known);
}

http::Response pagesOf(const Board& board, const http::Request& request) {
  const auto wanted = request.query.find("agent");
  const Nanos now = monotonicNow();
  Json agents = Json::array();
  for (const auto& entry : board.entries()) {
    if (wanted != request.query.end()) {
      const AgentView head = entry->head();
      if (wanted->second != head.agent && wanted->second != head.host) continue;
    }
    const AgentView agent = entry->copy();
    Json json = {{"agent", agent.agent},
                 {"host", agent.host},
                 {"state", name(agent.state)},
                 {"problem", agent.problem.empty() ? Json(nullptr) : Json(agent.problem)},
                 {"interval_seconds", static_cast<double>(agent.interval) / 1e9},
                 {"pages", Json::array()}};
    for (const PageView& page : agent.pages) json["pages"].push_back(pageJson(page, now));
    for (const LeftOutPage& page : agent.left_out) json["pages"].push_back(leftOutJson(page));
    agents.push_back(std::move(json));
  }
  if (wanted != request.query.end() && agents.empty()) {
    return noSuchAgent(board, wanted->second);
  }
  http::Response response;
  response.body =
      Json{{"agents", agents}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

http::Response eventsOf(const Watcher& watcher) {
  Json events = Json::array();
  for (const WatchEvent& event : watcher.events()) {
    events.push_back({{"time", formatUtc(event.utc)},
                      {"kind", event.kind},
                      {"began", event.began},
                      {"host", event.host},
                      {"application", event.application},
                      {"pid", event.pid},
                      {"owner", event.owner},
                      {"metric", event.metric.empty() ? Json(nullptr) : Json(event.metric)},
                      {"value", event.value},
                      {"limit", event.limit}});
  }
  http::Response response;
  response.body =
      Json{{"events", events}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

}  // namespace

http::Response answer(const Board& board, Watcher* watcher, const http::ServerCounters& counters,
                      const http::Request& request) {
  if (request.method != "GET") return http::errorResponse(405, "only GET is answered here");
  if (request.path == "/metrics") return metrics(board, watcher, counters, request, false);
  if (request.path == "/healthz") return health(board);
  if (request.path == "/api/v1/pages") return pagesOf(board, request);
  const bool adaptive = request.path == "/metrics/adaptive";
  if (adaptive || request.path == "/api/v1/events") {
    if (watcher == nullptr) {
      return http::errorResponse(404, "pages are not watched; configure 'analytics:'");
    }
    return adaptive ? metrics(board, watcher, counters, request, true) : eventsOf(*watcher);
  }
  return http::errorResponse(
      404, "there are /metrics, /metrics/adaptive, /healthz, /api/v1/pages and /api/v1/events");
}

}  // namespace pingloom::collector
