// What the watch of pages says to HTTP, Prometheus and tracers.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/watch/watch_metrics.h"
#include "collector/watch/watcher.h"

namespace pingloom::collector {
namespace {

// Adds what one of an owner's watches says to what is known of the owner.
void include(WatchState& state, const OwnerWatch& watch) {
  state.anomalous = state.anomalous || watch.anomalous();
  for (Deviation& deviation : watch.deviations()) state.deviations.push_back(std::move(deviation));
  if (!watch.judged()) return;
  state.score = state.judged ? std::max(state.score, watch.score()) : watch.score();
  state.judged = true;
}

}  // namespace

std::vector<WatchEvent> Watcher::events() const {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

std::uint64_t Watcher::eventsLogged() const {
  const std::lock_guard lock(mutex_);
  return logged_;
}

std::vector<Anomaly> Watcher::anomalies(const AgentView& agent) const {
  std::vector<Anomaly> found;
  const std::lock_guard lock(mutex_);
  const GroupKey begin{agent.agent, agent.incarnation, 0, 0};
  for (auto group = groups_.lower_bound(begin); group != groups_.end(); ++group) {
    if (std::get<0>(group->first) != agent.agent) break;
    const Entry& entry = group->second;
    if (std::get<1>(group->first) != agent.incarnation || entry.watch == nullptr) continue;
    auto deviations = entry.watch->deviations();
    if (deviations.empty()) continue;
    found.push_back({entry.application, entry.pid, entry.owner, std::move(deviations)});
  }
  return found;
}

std::map<std::uint64_t, WatchState> Watcher::states(const AgentView& agent) const {
  std::map<std::uint64_t, WatchState> found;
  const std::lock_guard lock(mutex_);
  const GroupKey begin{agent.agent, agent.incarnation, 0, 0};
  for (auto group = groups_.lower_bound(begin); group != groups_.end(); ++group) {
    if (std::get<0>(group->first) != agent.agent) break;
    const Entry& entry = group->second;
    if (std::get<1>(group->first) != agent.incarnation || entry.watch == nullptr) continue;
    include(found[entry.owner], *entry.watch);
  }
  return found;
}

ApplicationState Watcher::stateOf(const std::string& application) const {
  ApplicationState state;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : groups_) {
    if (entry.application != application || entry.watch == nullptr) continue;
    state.known = true;
    if (entry.watch->anomalous()) state.anomalous_hosts.insert(entry.host);
  }
  return state;
}

// Says in each application's pages what /api/v1/sampling says of it: while it is anomalous on any
// host, its tracers keep all traces. REQUIRES: the lock.
void Watcher::adviseTracers(const std::vector<std::shared_ptr<const BoardEntry>>& agents) const {
  std::set<std::string_view> anomalous;
  for (const auto& [key, entry] : groups_) {
    if (entry.watch != nullptr && entry.watch->anomalous()) anomalous.insert(entry.application);
  }
  std::map<std::string_view, std::set<std::uint64_t>> owners;  // by agent
  for (const auto& [key, entry] : groups_) {
    if (anomalous.contains(entry.application)) owners[std::get<0>(key)].insert(entry.owner);
  }
  for (const auto& agent : agents) {
    pages::TraceAdvice advice{settings_.trace_one_in, {}};
    if (const auto found = owners.find(agent->head().agent); found != owners.end()) {
      advice.keep_all.assign(found->second.begin(), found->second.end());
    }
    if (advice.keep_all.size() > pages::TraceAdvice::kMaxKeepAll) advice = {1, {}};
    agent->advice().set(std::move(advice));
  }
}

std::uint32_t Watcher::traceOneIn() const {
  const std::lock_guard lock(mutex_);
  return settings_.trace_one_in;
}

void Watcher::metrics(MetricsWriter& out) const {
  WatchFigures figures;
  const std::lock_guard lock(mutex_);
  figures.limits = limits_total_;
  figures.anomalies = anomalies_total_;
  figures.exported = exported_;
  figures.suppressed = suppressed_;
  figures.keeps = !file_.empty();
  figures.saved_utc = saved_utc_;
  figures.saves_failed = saves_failed_;
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint64_t>, WatchedOwner> merged;
  for (const auto& [key, entry] : groups_) {
    if (entry.watch == nullptr) {
      ++figures.unwatched;
      continue;
    }
    figures.exported += entry.watch->sampler().exported();
    figures.suppressed += entry.watch->sampler().suppressed();
    // An agent of before `namesake` does not tell a process's connections apart.
    const std::uint64_t number = entry.numbered ? entry.owner : 0;
    include(merged[{entry.host, entry.application, entry.pid, number}], *entry.watch);
  }
  for (auto& [who, owner] : merged) {
    std::tie(owner.host, owner.application, owner.pid, owner.owner) = who;
    figures.owners.push_back(std::move(owner));
  }
  watchMetrics(out, figures);
}

}  // namespace pingloom::collector
