#include "collector/watch/watcher.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <limits>

#include "collector/watch/watch_metrics.h"
#include "common/log.h"
#include "common/time.h"

namespace pingloom::collector {
namespace {

// What this thread has used of a processor. Waiting for a lock does not count.
Nanos threadCpu() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return Nanos{used.tv_sec} * kSecond + used.tv_nsec;
}

std::map<std::uint64_t, PagesOfOwner> pagesByOwner(const AgentView& agent) {
  std::map<std::uint64_t, PagesOfOwner> owners;
  for (const PageView& page : agent.pages) owners[page.info->owner].push_back(&page);
  return owners;
}

// Neighbouring pages whose features fit into one OwnerWatch.
std::vector<PagesOfOwner> groupsOf(const PagesOfOwner& pages) {
  std::vector<PagesOfOwner> groups(1);
  std::size_t features = 0;
  for (const PageView* page : pages) {
    const std::size_t more = PageFeatures::countOf(page->info->schema);
    features += more;
    if (features > OwnerWatch::kMaxFeatures && !groups.back().empty()) {
      groups.emplace_back();
      features = more;
    }
    groups.back().push_back(page);
  }
  return groups;
}

}  // namespace

Watcher::Watcher(const Board& board, const WatchSettings& settings, std::filesystem::path file)
    : board_(board), settings_(settings), file_(std::move(file)) {
  if (!file_.empty()) load();
  thread_ = std::thread([this] { run(); });
  if (!file_.empty()) saver_ = std::thread([this] { saveRegularly(); });
}

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (!saver_.joinable()) return;
  saver_.join();
  save();
}

void Watcher::reload(const WatchSettings& settings) {
  const std::lock_guard lock(mutex_);
  const bool all = settings.limits != settings_.limits || settings.sampler != settings_.sampler;
  const auto changed = [&](const std::string& name) {
    return all || settings.subspaceOf(name) != settings_.subspaceOf(name);
  };
  for (auto& [key, entry] : groups_) {
    if (changed(entry.application)) remove(entry);
    if (entry.watch == nullptr) continue;
    entry.watch->compareBy(settings.peers_label);
    entry.watch->compareWith(settings.peersOf(entry.application));
  }
  shelf_.forget(changed);
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
  // New groups are made after the round, because what they continue may have ended in it.
  std::vector<std::shared_ptr<const BoardEntry>> unmade;
  const auto agents = board_.entries();
  for (const auto& entry : agents) {
    if (!observeAgent(entry->copy(), false)) unmade.push_back(entry);
  }
  endRound();
  for (const auto& entry : unmade) observeAgent(entry->copy(), true);
  const std::lock_guard lock(mutex_);
  comparePeers();
  adviseTracers(agents);
}

void Watcher::endRound() {
  const std::lock_guard lock(mutex_);
  const Nanos now = monotonicNow();
  for (auto group = groups_.begin(); group != groups_.end();) {
    Entry& entry = group->second;
    if (entry.seen) {
      ++group;
      continue;
    }
    if (auto watch = remove(entry)) {
      shelf_.put({entry.host, entry.application, std::get<3>(group->first)},
                 shelve(entry, *watch, now));
    }
    group = groups_.erase(group);
  }
  shelf_.expire(now);
}

void Watcher::fitModels() {
  const Nanos interval = [this] {
    const std::lock_guard lock(mutex_);
    return settings_.interval;
  }();
  fit_budget_.spend(interval, threadCpu, [this] { return fitSlice(); });
}

// Returns whether a model was fitted. The mutex is held for one slice at a time.
bool Watcher::fitSlice() {
  constexpr std::size_t kSlice = 256;  // rows: a few milliseconds
  const std::lock_guard lock(mutex_);
  if (stop_) return false;
  const auto wants = [](const auto& group) {
    return group.second.watch != nullptr && group.second.watch->wantsFit();
  };
  auto next = std::find_if(groups_.lower_bound(fitted_), groups_.end(), wants);
  if (next == groups_.end()) next = std::find_if(groups_.begin(), groups_.end(), wants);
  if (next == groups_.end()) return false;
  fitted_ = next->first;
  next->second.watch->fit(kSlice);
  return true;
}

std::unique_ptr<OwnerWatch> Watcher::remove(Entry& entry) {
  if (entry.watch == nullptr) return nullptr;
  features_ -= entry.watch->features();
  history_features_ -= entry.watch->historyFeatures();
  seasons_ -= entry.watch->hasSeason() ? 1 : 0;
  exported_ += entry.watch->sampler().exported();
  suppressed_ += entry.watch->sampler().suppressed();
  return std::move(entry.watch);
}

// Returns whether all of its groups are watched, or cannot be. Others are made if `make` says so.
bool Watcher::observeAgent(const AgentView& agent, bool make) {
  bool complete = true;
  const std::lock_guard lock(mutex_);
  for (const auto& [owner, pages] : pagesByOwner(agent)) {
    std::size_t number = 0;
    for (const PagesOfOwner& group : groupsOf(pages)) {
      Entry& entry = groups_[{agent.agent, agent.incarnation, owner, number}];
      entry.seen = true;
      entry.host = agent.host;
      const PageInfo& info = *pages.front()->info;
      entry.application = info.application;
      entry.pid = info.process;
      entry.owner = owner;
      entry.numbered = info.numbered;
      complete = observeGroup(entry, group, number++, make) && complete;
    }
  }
  return complete;
}

bool Watcher::observeGroup(Entry& entry, const PagesOfOwner& pages, std::size_t number, bool make) {
  constexpr int kRetry = 60;  // rounds until a group that was refused is tried again
  const bool known = entry.watch != nullptr && entry.watch->fits(pages);
  if (known && make) return true;  // this round's sample has been taken
  if (entry.refused && !make && ++entry.unread >= kRetry) entry.refused = false;
  if (entry.refused) return true;
  if (!known && !make) return false;
  if (!known) makeWatch(entry, pages, number);
  entry.refused = entry.watch == nullptr;
  if (!entry.refused) takeSample(entry, pages);
  return true;
}

// Drops from the shelf what a group with so many features needs, if the group fits at all. Returns
// whether there is room for its history.
bool Watcher::makeRoom(std::size_t features) {
  const auto drop = [&](std::size_t most, std::size_t used, auto shelved) {
    if (used > most || features > most - used) return false;
    while (features > most - std::min(most, used + shelved()) && shelf_.dropOldest()) {
    }
    return true;
  };
  if (!drop(kMaxFeatures, features_, [this] { return shelf_.features(); })) return false;
  if (features > analytics::SubspaceDetector::kMaxLearnedSlots) return false;
  return drop(kMaxHistoryFeatures, history_features_, [this] { return shelf_.historyFeatures(); });
}

Shelved Watcher::shelve(const Entry& entry, OwnerWatch& watch, Nanos now) {
  auto memory = std::make_shared<std::string>();
  watch.write(*memory);
  return {std::move(memory), watch.features(), watch.historyFeatures(), now, entry.owner};
}

// Returns what is known about the group, if its metrics have changed or it has been here before.
std::optional<WatchMemory> Watcher::memoryOf(Entry& entry, std::size_t number) {
  if (const auto watch = remove(entry)) return std::move(*watch).end();
  const auto shelved = shelf_.take({entry.host, entry.application, number}, entry.owner);
  if (shelved == nullptr) return std::nullopt;
  return readMemory(*shelved, settings_.subspaceOf(entry.application));
}

void Watcher::makeWatch(Entry& entry, const PagesOfOwner& pages, std::size_t number) {
  entry.unread = 0;
  auto before = memoryOf(entry, number);
  std::size_t features = 0;
  for (const PageView* page : pages) features += PageFeatures::countOf(page->info->schema);
  const bool learned = makeRoom(features);
  if (features <= kMaxFeatures - features_) {
    entry.watch = OwnerWatch::make(pages, settings_, learned, seasons_ < kMaxSeasons);
  }
  if (entry.watch == nullptr) return;
  if (before) entry.watch->takeOver(std::move(*before));
  features_ += entry.watch->features();
  history_features_ += entry.watch->historyFeatures();
  seasons_ += entry.watch->hasSeason() ? 1 : 0;
}

void Watcher::takeSample(Entry& entry, const PagesOfOwner& pages) {
  std::vector<WatchEvent> events;
  ++entry.unread;
  // A page's time is monotonic.
  const Instant now = Instant::now();
  if (entry.watch->observe(pages, events, now.utc - now.mono)) entry.unread = 0;
  log(entry, std::move(events));
}

// Replicas that have not been read for long take no part.
void Watcher::comparePeers() {
  constexpr int kMaxUnread = 10;  // rounds
  for (auto& [key, entry] : groups_) {
    if (entry.watch == nullptr) continue;
    if (entry.unread >= kMaxUnread) {
      entry.watch->replica().leave();
      continue;
    }
    peers_.add(*entry.watch, settings_.subspaceOf(entry.application).relearn_after);
  }
  peers_.judge();
  for (auto& [key, entry] : groups_) {
    if (entry.watch == nullptr) continue;
    std::vector<WatchEvent> events;
    entry.watch->comparePeers(events);
    log(entry, std::move(events));
  }
}

void Watcher::log(const Entry& entry, std::vector<WatchEvent> events) {
  for (WatchEvent& event : events) {
    event.host = entry.host;
    // The application chose the names of metrics; isText() guarantees that they are printable.
    log::info("{} {} ({} of {}, pid {}): {} is {}, limit {}", event.kind,
              event.began ? "begins" : "ends", event.application, event.host, event.pid,
              event.metric.empty() ? "the score" : event.metric, event.value, event.limit);
    if (event.began) ++(event.kind == "limit" ? limits_total_ : anomalies_total_);
    ++logged_;
    if (events_.size() == kMaxEvents) events_.pop_front();
    events_.push_back(std::move(event));
  }
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

}  // namespace pingloom::collector
