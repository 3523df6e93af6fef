// The metrics of one page: where their slots are, and what the agent has been told of them.
// The slots of a removed metric rest for kRest after the agent has forgotten it, and only then are
// they cleared and given to other metrics. Until then collectors may read them as what they were,
// and threads that have not noticed the removal may still update them.
// The numbers of metrics are never used again. Not thread-safe; Page says who guards it.
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "pages/client/definition.h"

namespace pingloom::pages::client {

using Instant = std::chrono::steady_clock::time_point;
using MetricNumber = std::uint64_t;

class MetricTable {
 public:
  // More than an agent lets collectors read by an earlier schema (PageSchema::kRest).
  static constexpr std::chrono::seconds kRest{60};

  // Tells whether it fits if all metrics together may have so many bytes of schema.
  bool hasRoom(const Definition& metric, std::size_t most_bytes) const;
  // Places a metric. REQUIRES: hasRoom().
  MetricNumber add(Definition metric);
  const Definition& at(MetricNumber number) const { return entries_.at(number).metric; }
  // Ends a metric. It stays in the table until sweep().
  void remove(MetricNumber number, Instant now);
  // Drops the metrics whose slots have rested. What at() has returned for them becomes invalid.
  void sweep(Instant now);

  std::size_t size() const { return living_; }           // without those that were removed
  std::size_t known() const { return known_; }           // of these, those that the agent knows
  std::size_t usedSlots() const { return used_slots_; }  // counted from the first; never shrinks

  // ---- What the agent knows ----
  struct News {
    MetricNumber number = 0;
    bool removed = false;
  };
  std::size_t newsCount() const { return news_.size(); }
  // Returns what the agent has to be told next.
  std::optional<News> news() const;
  void told();  // REQUIRES: the agent was told of news()
  void defined(MetricNumber number);
  void refused(MetricNumber number, Instant now);    // its definition was
  void forgotten(MetricNumber number, Instant now);  // after a removal
  // The agent is gone. The next one has to be told of all metrics but those that were removed.
  void startOver(Instant now);

 private:
  enum class Told { kNot, kAsked, kKnown, kRefused };
  struct Entry {
    Definition metric;
    Told told = Told::kNot;
    bool removed = false;
    bool resting = false;
    Instant rests_until{};
  };

  std::optional<std::size_t> freeSlots(const Definition& metric) const;
  void rest(MetricNumber number, Entry& entry, Instant now);

  std::map<MetricNumber, Entry> entries_;
  MetricNumber next_ = 0;
  std::deque<News> news_;
  std::deque<MetricNumber> resting_;  // in the order in which their rests end
  std::bitset<PINGLOOM_PAGE_SLOTS> taken_;
  std::size_t used_slots_ = 0;
  std::size_t schema_bytes_ = 0;
  std::size_t infos_ = 0;
  std::size_t living_ = 0;
  std::size_t known_ = 0;
  bool fresh_ = true;  // whether no agent has been told anything
};

}  // namespace pingloom::pages::client
