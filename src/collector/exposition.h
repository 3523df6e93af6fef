// Pages' values as Prometheus' text format 0.0.4 or OpenMetrics 1.0. Any thread.
//
// A series is the metric's name with its own labels, its application's, and who it is of: host,
// application, pid; where these are others' too (PageInfo::numbered), also owner. A label of that
// name which an application chose itself becomes exported_NAME.
// Of families that applications declare differently the first one's kind counts, and of series that
// are there twice the first; the others are left out and counted, as are families whose samples
// would be named like another's or like the collector's own, and pages of agents that say to be the
// same host as another one. Left out too are the values of pages whose owners give no sign of life,
// and what has not been read for kStaleAfter longer than the agent's interval.
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
  std::uint64_t conflicts = 0;  // with the family's kind, or with another family's names
  std::uint64_t hosts = 0;      // pages of agents whose host is another one's already
};

class Exposition {
 public:
  explicit Exposition(MetricsFormat format) : format_(format) {}

  // A page whose values are recent enough is added; `now` is monotonic.
  void add(const AgentView& agent, Nanos now);
  // Whether a page's values are to be shown.
  static bool isCurrent(const PageView& page, Nanos interval, Nanos now);
  // All families; the end mark of OpenMetrics is the caller's, after what it adds itself.
  std::string text() const;
  const ExpositionCounters& counters() const { return counters_; }

 private:
  struct Family {
    pingloom_metric_kind kind = PINGLOOM_COUNTER;
    MetricsText text;
    std::unordered_set<std::string> series;  // their labels
  };
  Family* familyOf(const pages::Metric& metric);
  void addMetric(const LabelText& labels, const PageView& page, const pages::Metric& metric);

  const MetricsFormat format_;
  std::map<std::string, Family, std::less<>> families_;
  std::unordered_set<std::string> names_;  // of all samples that there may be
  std::unordered_set<std::string> hosts_;
  ExpositionCounters counters_;
};

}  // namespace pingloom::collector
