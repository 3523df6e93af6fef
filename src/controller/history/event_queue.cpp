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

}  // namespace

void EventQueue::add(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence,
                     std::vector<VerdictRecord> verdicts) {
  const std::lock_guard lock(mutex_);
  dropped_ += append(events_, std::move(events));
  dropped_ += append(presence_, std::move(presence));
  dropped_ += append(verdicts_, std::move(verdicts));
}

bool EventQueue::due(Nanos now_mono) const {
  const std::lock_guard lock(mutex_);
  return !(events_.empty() && presence_.empty() && verdicts_.empty()) && now_mono >= retry_mono_;
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
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
    presence.swap(presence_);
    verdicts.swap(verdicts_);
  }
  // The ledger's own writing reports a disk that cannot be written.
  const auto status = ledger.record(events, presence, verdicts);
  const std::lock_guard lock(mutex_);
  if (status) {
    written_ += events.size();
    return;
  }
  retry_mono_ = now_mono + kRetry;
  events.swap(events_);
  presence.swap(presence_);
  verdicts.swap(verdicts_);
  dropped_ += append(events_, std::move(events));
  dropped_ += append(presence_, std::move(presence));
  dropped_ += append(verdicts_, std::move(verdicts));
}

}  // namespace pingloom::controller
