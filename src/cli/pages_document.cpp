#include "cli/pages_document.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;

const Json& member(const Json& json, const char* key) {
  static const Json none;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : none;
}

std::string memberText(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_string() ? printable(value.get_ref<const std::string&>()) : "";
}

std::optional<std::uint64_t> countOf(const Json& value) {
  // The parser stores a number that is not negative as unsigned; a program may store it as signed.
  const bool negative =
      !value.is_number_unsigned() && value.is_number_integer() && value.get<std::int64_t>() < 0;
  if (!value.is_number_integer() || negative) return std::nullopt;
  return value.get<std::uint64_t>();
}

std::string numberText(const Json& json, const char* key) {
  const auto number = countOf(member(json, key));
  return number ? std::to_string(*number) : "-";
}

std::optional<double> numberOf(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Escapes a label's value as Prometheus does, so that its end can be seen.
std::string labelValue(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string labelsText(const Json& labels) {
  if (!labels.is_object() || labels.empty()) return "";
  std::string text;
  for (const auto& [name, value] : labels.items()) {
    text += text.empty() ? "{" : ",";
    text += printable(name) + "=";
    text += labelValue(value.is_string() ? printable(value.get_ref<const std::string&>()) : "");
  }
  return text + "}";
}

// What lacks a value or labels is left out.
std::vector<PageExemplar> exemplarsOf(const Json& json) {
  std::vector<PageExemplar> exemplars;
  if (!json.is_array()) return exemplars;
  for (const Json& exemplar : json) {
    const auto value = numberOf(member(exemplar, "value"));
    std::string labels = labelsText(member(exemplar, "labels"));
    if (!value || labels.empty()) continue;
    exemplars.push_back({memberText(exemplar, "time"), std::move(labels), *value});
  }
  return exemplars;
}

PageMetric metricOf(const Json& json) {
  PageMetric metric;
  metric.name = memberText(json, "name") + labelsText(member(json, "labels"));
  metric.kind = memberText(json, "kind");
  const Json& value = member(json, "value");
  if (metric.kind == "counter") {
    metric.count = countOf(value);
    // A counter with a unit has fractions.
    const auto number = numberOf(value);
    if (!metric.count && number && *number >= 0) metric.value = number;
  } else if (metric.kind == "histogram" || metric.kind == "summary") {
    metric.count = countOf(member(value, "count"));
    metric.value = numberOf(member(value, "sum"));
    metric.p50 = numberOf(member(value, "p50"));
    metric.p99 = numberOf(member(value, "p99"));
  } else {
    metric.value = numberOf(value);
  }
  metric.exemplars = exemplarsOf(member(json, "exemplars"));
  return metric;
}

ShownPage pageOf(const Json& json, double now) {
  ShownPage page;
  page.application = memberText(json, "application");
  page.process = numberText(json, "pid");
  page.state = memberText(json, "state");
  // A restarted agent counts its generations from the beginning.
  page.key = numberText(json, "generation") + " " + page.process + " " + page.application;
  const auto age = numberOf(member(json, "age_seconds"));
  if (age && *age >= 0) page.read = now - *age;
  for (const Json& metric : member(json, "metrics")) page.metrics.push_back(metricOf(metric));
  return page;
}

PageAnomaly anomalyOf(const Json& json) {
  PageAnomaly anomaly;
  anomaly.application = memberText(json, "application");
  anomaly.process = numberText(json, "pid");
  anomaly.metric = memberText(json, "metric");
  const std::string part = memberText(json, "part");
  if (!part.empty()) anomaly.metric += " " + part;
  anomaly.statistic = memberText(json, "statistic");
  anomaly.score = numberOf(member(json, "score"));
  anomaly.value = numberOf(member(json, "value"));
  anomaly.peers = numberOf(member(json, "peers"));
  anomaly.usual = numberOf(member(json, "usual"));
  return anomaly;
}

PagesAgent agentOf(const Json& json, double now) {
  PagesAgent agent;
  agent.agent = memberText(json, "agent");
  agent.host = memberText(json, "host");
  agent.state = memberText(json, "state");
  agent.problem = memberText(json, "problem");
  // An interval is an hour at most.
  agent.interval = std::clamp(numberOf(member(json, "interval_seconds")).value_or(0), 0.0, 3600.0);
  for (const Json& warning : member(json, "warnings")) {
    if (warning.is_string())
      agent.warnings.push_back(printable(warning.get_ref<const std::string&>()));
  }
  for (const Json& anomaly : member(json, "anomalies")) {
    agent.anomalies.push_back(anomalyOf(anomaly));
  }
  for (const Json& page : member(json, "pages")) agent.pages.push_back(pageOf(page, now));
  return agent;
}

void setPageRates(const ShownPage& before, ShownPage& page, double interval) {
  if (!before.read || !page.read) return;
  const double seconds = *page.read - *before.read;
  // Whole rounds lie between two readings; anything less is the answers' own time on the way.
  constexpr double kMinSeconds = 0.05;
  const bool read_again = seconds > std::max(interval / 2, kMinSeconds);
  std::map<std::string_view, const PageMetric*> known;
  for (const PageMetric& metric : before.metrics) known.emplace(metric.name, &metric);
  for (PageMetric& metric : page.metrics) {
    const auto found = known.find(metric.name);
    if (found == known.end() || found->second->kind != metric.kind) continue;
    const PageMetric& old = *found->second;
    if (!read_again) {
      metric.rate = old.rate;
    } else if (metric.count && old.count && *metric.count >= *old.count) {
      metric.rate = static_cast<double>(*metric.count - *old.count) / seconds;
    } else if (metric.kind == "counter" && metric.value && old.value &&
               *metric.value >= *old.value) {
      metric.rate = (*metric.value - *old.value) / seconds;
    }
  }
  if (!read_again) page.read = before.read;
}

}  // namespace

Result<PagesDocument> readPagesDocument(const Json& json, Nanos now) {
  const Json& agents = member(json, "agents");
  if (!agents.is_array()) {
    return makeError("/api/v1/pages", "no array 'agents'; is this really a pingloom collector?");
  }
  PagesDocument document;
  for (const Json& agent : agents) {
    document.push_back(agentOf(agent, static_cast<double>(now) / 1e9));
  }
  return document;
}

void setRates(const PagesDocument& before, PagesDocument& now) {
  using Key = std::pair<std::string_view, std::string_view>;  // into `before`
  std::map<Key, const ShownPage*> known;
  for (const PagesAgent& agent : before) {
    for (const ShownPage& page : agent.pages) known.emplace(Key(agent.agent, page.key), &page);
  }
  for (PagesAgent& agent : now) {
    for (ShownPage& page : agent.pages) {
      const auto found = known.find({agent.agent, page.key});
      if (found != known.end()) setPageRates(*found->second, page, agent.interval);
    }
  }
}

}  // namespace pingloom::cli
