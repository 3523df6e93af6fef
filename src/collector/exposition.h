// Exports the values of pages in Prometheus' text format 0.0.4 or OpenMetrics 1.0. Any thread.
// A series has the metric's name, its own labels, those of its application, and host, application
// and pid. If other owners share these (PageInfo::numbered), it also has the label owner. An
// application's own label with one of these names becomes exported_NAME.
//
// Families have the names that FamilyNames gave them. Of duplicate series the first one counts. The
// others are left out and counted, and so are pages of agents that claim another agent's host, and
// families for which no name was free. Values are also left out if the page has no heartbeat, or
// was not read for kStaleAfter longer than the agent's interval.
#pragma once

#include <cstddef>
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
  std::uint64_t conflicts = 0;  // series of families for which no name was free
  std::uint64_t renamed = 0;    // families that are shown under another name than their own
  std::uint64_t hosts = 0;      // pages of agents that claim another agent's host
};

class Exposition {
 public:
  explicit Exposition(MetricsFormat format) : format_(format) {}

  // Adds the figures of this process to their families. REQUIRES: nothing has been added yet.
  void addOwnProcess();
  // Adds the pages whose values are recent enough; `now` is monotonic.
  void add(const AgentView& agent, Nanos now);
  // Tells whether a page's values are exported.
  static bool isCurrent(const PageView& page, Nanos interval, Nanos now);
  // Returns all families. The caller adds OpenMetrics' end mark after its own families.
  std::string text() const;
  const ExpositionCounters& counters() const { return counters_; }

 private:
  struct Family {
    MetricsText text;
    std::unordered_set<std::string> series;  // the labels of its series
  };
  Family& familyOf(const FamilyName& family, std::string_view help);
  // `index` is that of the metric in the schema.
  void addMetric(const LabelText& labels, const PageView& page, std::size_t index);

  const MetricsFormat format_;
  std::map<std::string, Family, std::less<>> families_;
  std::unordered_set<std::string> hosts_;
  ExpositionCounters counters_;
};

}  // namespace pingloom::collector
