// One page of this process: its memory, its metrics, and how much of that the agent knows. Threads
// with handles write its slots; everything else is guarded by the lock of Pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pages/client/definition.h"
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
  // Adds a metric and returns the address of its slots. REQUIRES: hasRoom().
  std::uint64_t* add(Definition metric);
  void beat();  // writes the heartbeat, once a second

  // In a forked child it replaces the memory by the child's own zeroed memory with the same
  // metrics. Returns false if the memory cannot be passed to an agent.
  bool startAnew();

  // ---- What the agent knows ----
  Standing standing() const { return standing_; }
  void forget();  // sets the standing to kUnknown
  void setStanding(Standing standing) { standing_ = standing; }
  void belongsTo(std::uint64_t owner, std::uint64_t generation);  // sets the standing to kKnown
  std::size_t metrics() const { return metrics_.size(); }
  std::size_t knownMetrics() const { return known_metrics_; }
  bool hasNews() const { return standing_ == Standing::kKnown && told_ < metrics_.size(); }
  std::size_t toldMetrics() const { return told_; }
  const Definition& metric(std::size_t index) const { return metrics_[index]; }
  void told() { ++told_; }
  void metricKnown();  // makes readers read the schema again

 private:
  std::size_t firstSlot(const Definition& metric) const;
  void writeHeader();

  std::uint32_t number_;
  std::uint16_t flags_;
  PageMemory memory_;
  std::vector<Definition> metrics_;  // ordered by slot
  std::size_t slots_ = 0;            // number of slots in use
  bool line_taken_ = false;          // whether the last metric needs cache lines of its own
  std::size_t schema_bytes_ = 0;
  std::size_t infos_ = 0;
  Standing standing_ = Standing::kUnknown;
  std::size_t told_ = 0;
  std::size_t known_metrics_ = 0;
};

}  // namespace pingloom::pages::client
