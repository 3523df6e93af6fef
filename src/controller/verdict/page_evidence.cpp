#include "controller/verdict/page_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "controller/model/incident.h"

namespace pingloom::controller {
namespace {

constexpr std::string_view kOwnMetrics = "pingloom_";

std::string howOf(const PageAnomaly& anomaly) {
  if (anomaly.peers && anomaly.value && *anomaly.peers != 0) {
    return fmt::format("is {:.2f} x its peers'", std::abs(*anomaly.value / *anomaly.peers));
  }
  return fmt::format("is unusual ({}, score {:.1f})", anomaly.statistic, std::abs(anomaly.score));
}

}  // namespace

void rankAnomalies(std::vector<PageAnomaly>& anomalies) {
  std::erase_if(anomalies,
                [](const PageAnomaly& each) { return each.metric.starts_with(kOwnMetrics); });
  std::stable_sort(anomalies.begin(), anomalies.end(),
                   [](const PageAnomaly& a, const PageAnomaly& b) {
                     return std::abs(a.score) > std::abs(b.score);
                   });
  if (anomalies.size() > Incident::kMaxAnomalies) anomalies.resize(Incident::kMaxAnomalies);
}

std::string clauseOf(const std::vector<PageAnomaly>& anomalies, std::string_view accused) {
  if (anomalies.empty()) return "";
  std::set<std::string_view> hosts;
  for (const PageAnomaly& each : anomalies) hosts.insert(each.host);
  const PageAnomaly& first = anomalies.front();
  std::string text =
      fmt::format(", and application {}'s {}{}{} {}", first.application, first.metric,
                  first.part.empty() ? "" : " ", first.part, howOf(first));
  if (hosts.size() > 1 || first.host != accused) text += " on " + first.host;
  if (anomalies.size() > 1) {
    text += fmt::format(" ({} more {} unusual)", anomalies.size() - 1,
                        anomalies.size() == 2 ? "application is" : "applications are");
  }
  return text;
}

}  // namespace pingloom::controller
