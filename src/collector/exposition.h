// Exports the values of pages in Prometheus' text format 0.0.4 or OpenMetrics 1.0. Any thread.
// A series has the metric's name, its own labels, those of its application, and host, application
// and pid. If other owners share these (PageInfo::numbered), it also has the label owner. An
// application's own label with one of these names becomes exported_NAME.
//
// If applications declare a family differently, the first declaration counts, and of duplicate
// series the first one. The others are left out and counted, and so are families whose samples
// would have the names of another family or of the collector's own, and pages of agents that claim
// another agent's host. Values are also left out if the page has no heartbeat, or was not read for
// kStaleAfter longer than the agent's interval.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "collector/board.h"
#include "common/metrics_text.h"
#include "common/time.h"

namespace pingloom::collector {

struct ExpositionCounters {
  std::uint64_t series = 0;
  std::uint64_t duplicates = 0;
  // series that conflict with a family's kind or another family's names
  std::uint64_t conflicts = 0;
  std::uint64_t hosts = 0;  // pages of agents that claim another agent's host
};

class Exposition {
 public:
  explicit Exposition(MetricsFormat format) : format_(format) {}

  // Adds the pages whose values are recent enough; `now` is monotonic.
  void add(const AgentView& agent, Nanos now);
  // Tells whether a page's values are exported.
  static bool isCurrent(const PageView& page, Nanos interval, Nanos now);
  // Returns all families. The caller adds OpenMetrics' end mark after its own families.
  std::string text() const;
  const ExpositionCounters& counters() const { return counters_; }

 private:
  struct Family {
    pingloom_metric_kind kind = PINGLOOM_COUNTER;
    MetricsText text;
    std::unordered_set<std::string> series;  // the labels of its series
  };
  Family* familyOf(const pages::Metric& metric);
  void addMetric(const LabelText& labels, const PageView& page, const pages::Metric& metric);

  const MetricsFormat format_;
  std::map<std::string, Family, std::less<>> families_;
  std::unordered_set<std::string> names_;  // the names of all possible samples
  std::unordered_set<std::string> hosts_;
  ExpositionCounters counters_;
};

}  // namespace pingloom::collector
