// Exports the values of pages in any format of metrics. Any thread.
// A series has the metric's name, its own labels, those of its application, and host, application
// and pid. If other owners share these (PageInfo::numbered), it also has the label owner. An
// application's own label with one of these names becomes exported_NAME.
//
// Families have the names that FamilyNames gave them. Of duplicate series the first one counts. The
// others are left out and counted, and so are pages of agents that claim another agent's host, and
// families for which no name was free. Values are also left out if the page has no heartbeat, or
// was not read for kStaleAfter longer than the agent's interval.
//
// Classic histograms show the bounds that are powers of two, because each bound is a series. Native
// ones show all buckets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collector/board.h"
#include "collector/page_exemplars.h"
#include "common/metrics_writer.h"
#include "common/time.h"

namespace pingloom::collector {

// Reads 'exact' or 'compact', how much of classic histograms somebody asks for, and returns whether
// it is exact. nullopt: it is neither.
std::optional<bool> exactHistograms(std::string_view word);
constexpr const char* kHistogramWords = "write 'exact' or 'compact', which is the default";

struct ExpositionCounters {
  std::uint64_t series = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t conflicts = 0;  // series of families for which no name was free
  std::uint64_t renamed = 0;    // families that are shown under another name than their own
  std::uint64_t hosts = 0;      // pages of agents that claim another agent's host
  ExemplarCounters exemplars;
};

class Exposition {
 public:
  // Makes an empty writer of the format.
  using MakeWriter = std::function<std::unique_ptr<MetricsWriter>()>;
  // `exact`: classic histograms show all bounds. `now_utc` is the time by which exemplars are
  // recent enough; 0: there are none.
  explicit Exposition(MakeWriter make_writer, bool exact = false, Nanos now_utc = 0)
      : make_writer_(std::move(make_writer)), exact_(exact), now_utc_(now_utc) {}

  // Adds the figures of this process to their families. REQUIRES: nothing has been added yet.
  void addOwnProcess();
  // Adds the pages whose values are recent enough; `now` is monotonic.
  void add(const AgentView& agent, Nanos now);
  // Tells whether a page's values are exported.
  static bool isCurrent(const PageView& page, Nanos interval, Nanos now);
  // Returns all families, which must not be used any more. The caller adds OpenMetrics' end mark
  // after its own families.
  std::string take();
  const ExpositionCounters& counters() const { return counters_; }

 private:
  struct Family {
    std::unique_ptr<MetricsWriter> out;
    std::unordered_set<std::string> series;  // the labels of its series
  };
  Family& familyOf(const FamilyName& family, std::string_view help);
  // `index` is that of the metric in the schema.
  void addMetric(const LabelText& labels, const PageView& page, std::size_t index);

  Family& addFamily(std::string_view name, std::string_view type, std::string_view help);

  const MakeWriter make_writer_;
  const bool exact_;
  const Nanos now_utc_;
  std::map<std::string, Family, std::less<>> families_;  // by the name that is shown
  std::unordered_set<std::string> hosts_;
  ExpositionCounters counters_;
};

}  // namespace pingloom::collector
