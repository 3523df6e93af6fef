#include "collector/board.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pingloom::collector {

namespace {

// Tells for which metrics of a schema the page's values are not theirs.
std::vector<bool> unreadOf(const PageView& page, const pages::Schema& schema) {
  const pages::Schema& before = page.info->schema;
  std::array<std::size_t, PINGLOOM_PAGE_SLOTS> known;  // the metric that begins in a slot
  known.fill(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].slots != 0) known[before[i].first_slot] = i;
  }
  std::vector<bool> unread(schema.size());
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const pages::Metric& metric = schema[i];
    if (metric.slots == 0) continue;  // an info has no value
    const std::size_t index = known[metric.first_slot];
    if (index == before.size()) {
      unread[i] = true;
      continue;
    }
    const pages::Metric& same = before[index];
    unread[i] = same.kind != metric.kind || same.slots != metric.slots ||
                same.name != metric.name || same.labels != metric.labels ||
                (!page.unread.empty() && page.unread[index]);
  }
  return unread;
}

}  // namespace

void setInfo(const AgentView& agent, PageView& page, std::shared_ptr<const PageInfo> info,
             FamilyNames& names) {
  std::vector<std::shared_ptr<const FamilyName>> families;
  families.reserve(info->schema.size());
  const Declarer by{agent.host, info->application, info->process};
  for (const pages::Metric& metric : info->schema) families.push_back(names.claim(metric, by));
  if (page.read != 0) page.unread = unreadOf(page, info->schema);
  page.families = std::move(families);  // the earlier ones have kept their names until here
  page.info = std::move(info);
}

void BoardEntry::update(const std::function<void(AgentView&)>& change) {
  const std::lock_guard lock(mutex_);
  change(view_);
}

AgentView BoardEntry::copy() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

AgentView BoardEntry::head() const {
  const std::lock_guard lock(mutex_);
  return {
      view_.agent,    view_.host, view_.incarnation, view_.state, view_.problem, view_.last_round,
      view_.interval, {},         view_.counters,    {}};
}

std::shared_ptr<BoardEntry> Board::add(const std::string& agent) {
  auto made = std::make_shared<BoardEntry>(names_);
  made->update([&](AgentView& view) { view.agent = agent; });
  const std::lock_guard lock(mutex_);
  entries_[agent] = made;
  return made;
}

void Board::remove(const std::shared_ptr<BoardEntry>& entry) {
  const std::string agent = entry->head().agent;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(agent);
  if (found != entries_.end() && found->second == entry) entries_.erase(found);
}

std::vector<std::shared_ptr<const BoardEntry>> Board::entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const BoardEntry>> made;
  made.reserve(entries_.size());
  for (const auto& [agent, entry] : entries_) made.push_back(entry);
  return made;
}

}  // namespace pingloom::collector
