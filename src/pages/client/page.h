// One page of this process: its memory, the metrics on it, and how much of that the agent knows.
// Its slots are written by whoever has handles; all else by whoever holds the lock of Pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pages/client/definition.h"
#include "pages/client/page_memory.h"

namespace pingloom::pages::client {

// Where an agent is with a page. Back to kUnknown with every connection.
enum class Standing { kUnknown, kAsked, kKnown, kRefused };

class Page {
 public:
  // `number`: this process' own. Writes the header.
  Page(std::uint32_t number, std::uint16_t flags, PageMemory memory);

  std::uint32_t number() const { return number_; }
  std::uint16_t flags() const { return flags_; }
  bool grouped() const { return (flags_ & PINGLOOM_PAGE_GROUPED) != 0; }
  pingloom_page* page() const { return memory_.page(); }
  int fd() const { return memory_.fd(); }

  bool hasRoom(const Definition& metric) const;
  // REQUIRES hasRoom(). The slots' address.
  std::uint64_t* add(Definition metric);
  void beat();  // the heartbeat of a second

  // In a forked child: memory of its own, zero, with the same metrics. False: no agent can have it.
  bool startAnew();

  // ---- What the agent knows ----
  Standing standing() const { return standing_; }
  void forget();  // no agent knows it
  void setStanding(Standing standing) { standing_ = standing; }
  void belongsTo(std::uint64_t owner, std::uint64_t generation);  // standing: kKnown
  std::size_t metrics() const { return metrics_.size(); }
  std::size_t knownMetrics() const { return known_metrics_; }
  bool hasNews() const { return standing_ == Standing::kKnown && told_ < metrics_.size(); }
  std::size_t toldMetrics() const { return told_; }
  const Definition& metric(std::size_t index) const { return metrics_[index]; }
  void told() { ++told_; }
  void metricKnown();  // readers look at the schema again

 private:
  std::size_t firstSlot(const Definition& metric) const;
  void writeHeader();

  std::uint32_t number_;
  std::uint16_t flags_;
  PageMemory memory_;
  std::vector<Definition> metrics_;  // in the order of their slots
  std::size_t slots_ = 0;            // in use
  bool line_taken_ = false;          // the last metric wants to be alone on its lines
  std::size_t schema_bytes_ = 0;
  std::size_t infos_ = 0;
  Standing standing_ = Standing::kUnknown;
  std::size_t told_ = 0;
  std::size_t known_metrics_ = 0;
};

}  // namespace pingloom::pages::client
