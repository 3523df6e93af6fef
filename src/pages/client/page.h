// One page of this process: its memory, its metrics, and how much of that the agent knows. Threads
// with handles write its slots; everything else is guarded by the lock of Pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pages/client/definition.h"
#include "pages/client/metric_table.h"
#include "pages/client/page_memory.h"

namespace pingloom::pages::client {

// What the agent knows about a page. It returns to kUnknown with every new connection.
enum class Standing { kUnknown, kAsked, kKnown, kRefused };

class Page {
 public:
  // `number` is unique in this process. Writes the header.
  Page(std::uint32_t number, std::uint16_t flags, PageMemory memory);

  std::uint32_t number() const { return number_; }
  std::uint16_t flags() const { return flags_; }
  bool grouped() const { return (flags_ & PINGLOOM_PAGE_GROUPED) != 0; }
  pingloom_page* page() const { return memory_.page(); }
  int fd() const { return memory_.fd(); }

  bool hasRoom(const Definition& metric) const;
  // Adds a metric, whose slots are 0. REQUIRES: hasRoom().
  MetricNumber add(Definition metric);
  void remove(MetricNumber metric, Instant now) { metrics_.remove(metric, now); }
  // Makes room by what was removed long enough ago, see metric_table.h.
  void sweep(Instant now) { metrics_.sweep(now); }
  const Definition& metric(MetricNumber number) const { return metrics_.at(number); }
  void beat();  // writes the heartbeat, once a second

  // In a forked child it replaces the memory by the child's own zeroed memory with the same
  // metrics. Returns false if the memory cannot be passed to an agent.
  bool startAnew(Instant now);

  // ---- What the agent knows ----
  Standing standing() const { return standing_; }
  void forget(Instant now);  // sets the standing to kUnknown
  void setStanding(Standing standing) { standing_ = standing; }
  void belongsTo(std::uint64_t owner, std::uint64_t generation);  // sets the standing to kKnown
  std::size_t metrics() const { return metrics_.size(); }
  std::size_t knownMetrics() const { return metrics_.known(); }
  // What the agent has to be told next; nothing while it does not know the page.
  std::optional<MetricTable::News> news() const;
  void told() { metrics_.told(); }
  void metricKnown(MetricNumber metric);
  void metricRefused(MetricNumber metric, Instant now) { metrics_.refused(metric, now); }
  void metricRemoved(MetricNumber metric, Instant now);

 private:
  void writeHeader();
  void publishSlots();
  void countSchema();

  std::uint32_t number_;
  std::uint16_t flags_;
  PageMemory memory_;
  MetricTable metrics_;
  Standing standing_ = Standing::kUnknown;
};

}  // namespace pingloom::pages::client
