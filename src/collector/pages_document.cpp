#include "collector/pages_document.h"

#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "collector/histogram_summary.h"
#include "collector/page_exemplars.h"
#include "collector/summary_values.h"
#include "collector/watch/watch_json.h"
#include "collector/watch/watcher.h"
#include "common/json_text.h"
#include "common/text.h"
#include "common/time.h"

namespace pingloom::collector {
namespace {

using Json = nlohmann::ordered_json;

Json labelsJson(const pages::Labels& labels) {
  Json json = Json::object();
  for (const auto& [name, value] : labels) json[name] = value;
  return json;
}

Json orNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json finiteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json summaryJson(const MetricSummary& summary) {
  Json quantiles = Json::array();
  for (const auto& [rank, value] : summary.quantiles) {
    quantiles.push_back({{"quantile", rank}, {"value", finiteOrNull(value)}});
  }
  return {{"count", summary.count},
          {"sum", finiteOrNull(summary.sum)},
          {"p50", orNull(valueAt(summary, 0.50))},
          {"p99", orNull(valueAt(summary, 0.99))},
          {"quantiles", std::move(quantiles)}};
}

Json valueJson(const PageView& page, const pages::Metric& metric) {
  const std::uint64_t* slots = page.values.data() + metric.first_slot;
  if (metric.kind == PINGLOOM_GAUGE) return finiteOrNull(std::bit_cast<double>(slots[0]));
  if (metric.fractions) {
    const auto total = std::bit_cast<double>(slots[0]);
    return total >= 0 ? finiteOrNull(total) : Json(nullptr);
  }
  if (metric.kind == PINGLOOM_COUNTER) {
    if (metric.unit == 1) return slots[0];
    return pages::UnitScale(metric.unit)(static_cast<double>(slots[0]));
  }
  if (metric.kind == PINGLOOM_INFO) return 1;
  if (metric.kind == PINGLOOM_SUMMARY) return summaryJson(summaryOf(metric, {slots, metric.slots}));
  const auto summary = summarize(metric, {slots, metric.slots});
  return {{"count", summary.count},
          {"sum", summary.sum},
          {"p50", orNull(summary.p50)},
          {"p99", orNull(summary.p99)}};
}

Json exemplarsJson(const PageView& page, const pages::Metric& metric, Nanos now_utc) {
  ExemplarCounters counters;  // what /metrics shows is counted, not this
  Json json = Json::array();
  for (const MetricExemplar& exemplar : exemplarsOf(page, metric, now_utc, counters)) {
    Json labels = Json::object();
    exemplar.labels.forEach(
        [&](std::string_view name, std::string_view value) { labels[std::string(name)] = value; });
    json.push_back({{"time", formatUtc(exemplar.time)},
                    {"value", exemplar.value},
                    {"labels", std::move(labels)}});
  }
  return json;
}

Json pageJson(const PageView& page, Instant now) {
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
  if (!info.pod.uid.empty()) json["pod_uid"] = info.pod.uid;
  if (!info.pod.container.empty()) json["container_id"] = info.pod.container;
  if (page.read != 0) json["age_seconds"] = static_cast<double>(now.mono - page.read) / 1e9;
  for (std::size_t i = 0; i < info.schema.size(); ++i) {
    const pages::Metric& metric = info.schema[i];
    if (!page.has(i)) continue;
    Json shown = {{"name", metric.name},
                  {"kind", pages::name(metric.kind)},
                  {"labels", labelsJson(metric.labels)},
                  {"value", valueJson(page, metric)}};
    Json exemplars = exemplarsJson(page, metric, now.utc);
    if (!exemplars.empty()) shown["exemplars"] = std::move(exemplars);
    const FamilyName& family = *page.families[i];
    if (!family.conflict.empty()) {
      shown["shown_as"] = family.shown.empty() ? Json(nullptr) : Json(family.shown);
    }
    json["metrics"].push_back(std::move(shown));
  }
  return json;
}

// Shows it as a page without metrics, so that the operator sees which application is at fault.
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

// Returns the answer for an agent that is not read.
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

// Returns the conflicts that the agent's metrics have lost, each once.
Json warningsJson(const AgentView& agent) {
  std::set<std::string_view> conflicts;
  for (const PageView& page : agent.pages) {
    for (const auto& family : page.families) {
      if (!family->conflict.empty()) conflicts.insert(family->conflict);
    }
  }
  Json json = Json::array();
  for (const std::string_view conflict : conflicts) json.push_back(conflict);
  return json;
}

// Returns each metric that explains an anomaly of the agent's applications.
Json anomaliesJson(const AgentView& agent, const Watcher* watcher) {
  Json json = Json::array();
  if (watcher == nullptr) return json;
  for (const Anomaly& anomaly : watcher->anomalies(agent)) {
    for (const Deviation& deviation : anomaly.deviations) {
      Json one = {
          {"application", anomaly.application}, {"pid", anomaly.pid}, {"owner", anomaly.owner}};
      one.update(deviationJson(deviation));
      json.push_back(std::move(one));
    }
  }
  return json;
}

Json agentJson(const AgentView& agent, const Watcher* watcher, Instant now) {
  Json json = {{"agent", agent.agent},
               {"host", agent.host},
               {"state", name(agent.state)},
               {"problem", agent.problem.empty() ? Json(nullptr) : Json(agent.problem)},
               {"interval_seconds", static_cast<double>(agent.interval) / 1e9},
               {"warnings", warningsJson(agent)},
               {"anomalies", anomaliesJson(agent, watcher)},
               {"pages", Json::array()}};
  for (const PageView& page : agent.pages) json["pages"].push_back(pageJson(page, now));
  for (const LeftOutPage& page : agent.left_out) json["pages"].push_back(leftOutJson(page));
  return json;
}

}  // namespace

http::Response pagesDocument(const Board& board, const Watcher* watcher,
                             const http::Request& request) {
  if (auto refused = http::refusedParameter(request, {"agent"})) return std::move(*refused);
  const auto wanted = request.query.find("agent");
  const Instant now = Instant::now();
  http::Response response;
  // The document is built agent by agent, because a tree of all values is many times larger than
  // the text.
  for (const auto& entry : board.entries()) {
    if (wanted != request.query.end()) {
      const AgentView head = entry->head();
      if (wanted->second != head.agent && wanted->second != head.host) continue;
    }
    response.body += response.body.empty() ? R"({"agents":[)" : ",";
    response.body += jsonLine(agentJson(entry->copy(), watcher, now));
  }
  if (response.body.empty()) {
    if (wanted != request.query.end()) return noSuchAgent(board, wanted->second);
    response.body = R"({"agents":[)";
  }
  response.body += "]}\n";
  return response;
}

}  // namespace pingloom::collector
