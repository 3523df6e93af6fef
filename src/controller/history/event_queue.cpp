#include "controller/history/event_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pingloom::controller {
namespace {

// Returns the number of those that found no room.
template <typename T>
std::size_t append(std::vector<T>& waiting, std::vector<T> more) {
  const std::size_t room =
      EventQueue::kMaxWaiting - std::min(EventQueue::kMaxWaiting, waiting.size());
  const std::size_t taken = std::min(room, more.size());
  std::move(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(taken),
            std::back_inserter(waiting));
  return more.size() - taken;
}

std::vector<SeverityRecord> recordsOf(
    const std::map<std::pair<std::string, IpAddress>, Nanos>& unknown) {
  std::vector<SeverityRecord> made;
  made.reserve(unknown.size());
  for (const auto& [of, since] : unknown) {
    made.push_back({since, of.first, of.second, encodeNoSeverities()});
  }
  return made;
}

}  // namespace

// Puts `more` behind the waiting ones, and drops the oldest of all where there is no room.
void EventQueue::addSeverities(std::vector<SeverityRecord> more) {
  std::move(more.begin(), more.end(), std::back_inserter(severities_));
  const std::size_t dropped = severities_.size() - std::min(kMaxWaiting, severities_.size());
  const auto end = severities_.begin() + static_cast<std::ptrdiff_t>(dropped);
  for (auto record = severities_.begin(); record != end; ++record) {
    if (unknown_.size() == kMaxUnknown) break;
    unknown_.try_emplace({std::move(record->probe), record->source}, record->since_utc);
  }
  severities_.erase(severities_.begin(), end);
  dropped_ += dropped;
}

void EventQueue::add(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence,
                     std::vector<VerdictRecord> verdicts, std::vector<SeverityRecord> severities,
                     std::vector<CounterRecord> counters, std::vector<PathChange> path_changes) {
  const std::lock_guard lock(mutex_);
  dropped_ += append(events_, std::move(events));
  dropped_ += append(presence_, std::move(presence));
  dropped_ += append(verdicts_, std::move(verdicts));
  addSeverities(std::move(severities));
  dropped_ += append(counters_, std::move(counters));
  dropped_ += append(path_changes_, std::move(path_changes));
}

bool EventQueue::due(Nanos now_mono) const {
  const std::lock_guard lock(mutex_);
  const bool none = events_.empty() && presence_.empty() && verdicts_.empty() &&
                    severities_.empty() && unknown_.empty() && counters_.empty() &&
                    path_changes_.empty();
  return !none && now_mono >= retry_mono_;
}

std::uint64_t EventQueue::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

std::uint64_t EventQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void EventQueue::writeTo(Ledger& ledger, Nanos now_mono) {
  if (!due(now_mono)) return;
  std::vector<KeptEvent> events;
  std::vector<PresenceRecord> presence;
  std::vector<VerdictRecord> verdicts;
  std::vector<SeverityRecord> severities;
  std::vector<CounterRecord> counters;
  std::vector<PathChange> path_changes;
  Unknown unknown;
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
    presence.swap(presence_);
    verdicts.swap(verdicts_);
    severities.swap(severities_);
    counters.swap(counters_);
    path_changes.swap(path_changes_);
    unknown.swap(unknown_);
  }
  // They stand before the others, because of records with the same time the last one counts.
  const std::vector<SeverityRecord> none = recordsOf(unknown);
  severities.insert(severities.begin(), none.begin(), none.end());
  // The ledger's own writing reports a disk that cannot be written.
  const auto status = ledger.record(events, presence, verdicts, severities, counters, path_changes);
  const std::lock_guard lock(mutex_);
  if (status) {
    written_ += events.size();
    return;
  }
  retry_mono_ = now_mono + kRetry;
  severities.erase(severities.begin(),
                   severities.begin() + static_cast<std::ptrdiff_t>(none.size()));
  unknown.merge(unknown_);  // keeps the earlier of two times
  unknown_.swap(unknown);
  events.swap(events_);
  presence.swap(presence_);
  verdicts.swap(verdicts_);
  severities.swap(severities_);
  counters.swap(counters_);
  path_changes.swap(path_changes_);
  dropped_ += append(events_, std::move(events));
  dropped_ += append(presence_, std::move(presence));
  dropped_ += append(verdicts_, std::move(verdicts));
  addSeverities(std::move(severities));
  dropped_ += append(counters_, std::move(counters));
  dropped_ += append(path_changes_, std::move(path_changes));
}

}  // namespace pingloom::controller
