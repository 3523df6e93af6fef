#include "collector/watch/watcher.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>

#include "collector/watch/watch_metrics.h"
#include "common/log.h"
#include "common/time.h"

namespace pingloom::collector {
namespace {

std::map<std::uint64_t, PagesOfOwner> ownersOf(const AgentView& agent) {
  std::map<std::uint64_t, PagesOfOwner> owners;
  for (const PageView& page : agent.pages) owners[page.info->owner].push_back(&page);
  return owners;
}

// Neighbouring pages whose slots fit into one OwnerWatch.
std::vector<PagesOfOwner> groupsOf(const PagesOfOwner& pages) {
  std::vector<PagesOfOwner> groups(1);
  std::size_t slots = 0;
  for (const PageView* page : pages) {
    slots += page->info->slots;
    if (slots > OwnerWatch::kMaxSlots && !groups.back().empty()) {
      groups.emplace_back();
      slots = page->info->slots;
    }
    groups.back().push_back(page);
  }
  return groups;
}

}  // namespace

Watcher::Watcher(const Board& board, const WatchSettings& settings)
    : board_(board), settings_(settings), thread_([this] { run(); }) {}

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watcher::reload(const WatchSettings& settings) {
  const std::lock_guard lock(mutex_);
  const bool all = settings.limits != settings_.limits || settings.sampler != settings_.sampler;
  for (auto& [key, entry] : groups_) {
    const std::string& name = entry.application;
    if (all || settings.subspaceOf(name) != settings_.subspaceOf(name)) forget(entry);
  }
  settings_ = settings;
}

void Watcher::run() {
  pthread_setname_np(pthread_self(), "watcher");
  std::unique_lock lock(mutex_);
  auto due = std::chrono::steady_clock::now();
  while (!stop_) {
    lock.unlock();
    observe();
    fitModels();
    lock.lock();
    due = std::max(due + std::chrono::nanoseconds(settings_.interval),
                   std::chrono::steady_clock::now());
    wake_.wait_until(lock, due, [this] { return stop_; });
  }
}

void Watcher::observe() {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, entry] : groups_) entry.seen = false;
  }
  for (const auto& entry : board_.entries()) observeAgent(entry->copy());
  const std::lock_guard lock(mutex_);
  for (auto group = groups_.begin(); group != groups_.end();) {
    const bool gone = !group->second.seen;
    if (gone) forget(group->second);
    group = gone ? groups_.erase(group) : std::next(group);
  }
}

void Watcher::fitModels() {
  constexpr std::size_t kSlice = 256;  // rows: a few milliseconds
  const Nanos begin = monotonicNow();
  for (;;) {
    const std::lock_guard lock(mutex_);
    const auto budget = static_cast<Nanos>(kFitShare * static_cast<double>(settings_.interval));
    if (stop_ || monotonicNow() - begin >= budget) return;
    const auto wants = [](const auto& group) {
      return group.second.watch != nullptr && group.second.watch->wantsFit();
    };
    auto next = std::find_if(groups_.lower_bound(fitted_), groups_.end(), wants);
    if (next == groups_.end()) next = std::find_if(groups_.begin(), groups_.end(), wants);
    if (next == groups_.end()) return;
    fitted_ = next->first;
    next->second.watch->fit(kSlice);
  }
}

void Watcher::forget(Entry& entry) {
  if (entry.watch == nullptr) return;
  slots_ -= entry.watch->slots();
  history_slots_ -= entry.watch->historySlots();
  exported_ += entry.watch->sampler().exported();
  suppressed_ += entry.watch->sampler().suppressed();
  entry.watch.reset();
}

void Watcher::observeAgent(const AgentView& agent) {
  const std::lock_guard lock(mutex_);
  for (const auto& [owner, pages] : ownersOf(agent)) {
    std::size_t number = 0;
    for (const PagesOfOwner& group : groupsOf(pages)) {
      Entry& entry = groups_[{agent.agent, agent.incarnation, owner, number++}];
      entry.seen = true;
      entry.host = agent.host;
      const PageInfo& info = *pages.front()->info;
      entry.application = info.application;
      entry.pid = info.process;
      entry.owner = info.numbered ? owner : 0;
      observeGroup(entry, group);
    }
  }
}

void Watcher::observeGroup(Entry& entry, const PagesOfOwner& pages) {
  if (entry.watch == nullptr || !entry.watch->fits(pages)) {
    // The metrics have changed, so their usual behaviour has to be learned again.
    forget(entry);
    std::size_t slots = 0;
    for (const PageView* page : pages) slots += page->info->slots;
    const bool learned = slots <= kMaxHistorySlots - history_slots_;
    if (slots <= kMaxSlots - slots_) entry.watch = OwnerWatch::make(pages, settings_, learned);
    if (entry.watch != nullptr) {
      slots_ += entry.watch->slots();
      history_slots_ += entry.watch->historySlots();
    }
  }
  if (entry.watch == nullptr) return;
  std::vector<WatchEvent> events;
  entry.watch->observe(pages, events);
  for (WatchEvent& event : events) {
    event.host = entry.host;
    log(std::move(event));
  }
}

void Watcher::log(WatchEvent event) {
  // The application chose the names of metrics; isText() guarantees that they are printable.
  log::info("{} {} ({} of {}, pid {}): {} is {}, limit {}", event.kind,
            event.began ? "begins" : "ends", event.application, event.host, event.pid,
            event.metric.empty() ? "the score" : event.metric, event.value, event.limit);
  if (event.began) ++(event.kind == "limit" ? limits_total_ : anomalies_total_);
  if (events_.size() == kMaxEvents) events_.pop_front();
  events_.push_back(std::move(event));
}

void Watcher::keepExported(AgentView& agent, Nanos now) {
  const std::lock_guard lock(mutex_);
  std::map<std::uint64_t, bool> exported;
  for (const PageView& page : agent.pages) {
    const std::uint64_t owner = page.info->owner;
    const auto [known, first] = exported.try_emplace(owner, true);
    if (!first) continue;
    const GroupKey begin{agent.agent, agent.incarnation, owner, 0};
    const GroupKey end{agent.agent, agent.incarnation, owner,
                       std::numeric_limits<std::size_t>::max()};
    const auto group_begin = groups_.lower_bound(begin);
    const auto group_end = groups_.upper_bound(end);
    // Every group takes part in the round, also if another one is exported already.
    bool any = group_begin == group_end;
    for (auto group = group_begin; group != group_end; ++group) {
      any |= group->second.watch == nullptr || group->second.watch->exports(now);
    }
    known->second = any;
  }
  std::erase_if(agent.pages, [&](const PageView& page) { return !exported[page.info->owner]; });
}

std::vector<WatchEvent> Watcher::events() const {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

void Watcher::metrics(MetricsText& out) const {
  WatchFigures figures;
  const std::lock_guard lock(mutex_);
  figures.limits = limits_total_;
  figures.anomalies = anomalies_total_;
  figures.exported = exported_;
  figures.suppressed = suppressed_;
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint64_t>, WatchedOwner> merged;
  for (const auto& [key, entry] : groups_) {
    if (entry.watch == nullptr) {
      ++figures.unwatched;
      continue;
    }
    figures.exported += entry.watch->sampler().exported();
    figures.suppressed += entry.watch->sampler().suppressed();
    // An agent of before `namesake` does not tell a process's connections apart.
    WatchedOwner& owner = merged[{entry.host, entry.application, entry.pid, entry.owner}];
    owner.anomalous = owner.anomalous || entry.watch->anomalous();
    if (!entry.watch->judged()) continue;
    owner.score = owner.judged ? std::max(owner.score, entry.watch->score()) : entry.watch->score();
    owner.judged = true;
  }
  for (auto& [who, owner] : merged) {
    std::tie(owner.host, owner.application, owner.pid, owner.owner) = who;
    figures.owners.push_back(std::move(owner));
  }
  watchMetrics(out, figures);
}

}  // namespace pingloom::collector
