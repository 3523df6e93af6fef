#include "collector/push/push_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxPushReason = 200;  // bytes of an answer in the log

std::string reasonOf(const http::ClientResponse& answer) {
  std::string reason = fmt::format("the receiver answers {}", answer.status);
  if (answer.status / 100 == 3) return reason + "; redirects are not followed, write the final URL";
  const std::string said = asOneLine(answer.body, kMaxPushReason);
  if (!trimmed(said).empty()) reason.append(": ").append(trimmed(said));
  if (answer.status == 401 || answer.status == 403) reason += "; write 'token: FILE'";
  return reason;
}

}  // namespace

void PushQueue::count(PushFigures::Outcome outcome) {
  ++figures_.requests[outcome];
  figures_.samples[outcome] += queue_.front().samples;
}

void PushQueue::removeFirst() {
  bytes_ -= queue_.front().body.size();
  queue_.pop_front();
}

void PushQueue::add(std::vector<PushRequest> requests) {
  for (PushRequest& request : requests) {
    bytes_ += request.body.size();
    queue_.push_back(std::move(request));
  }
  while (bytes_ > max_bytes_) {
    count(PushFigures::kDropped);
    removeFirst();
  }
}

const PushRequest* PushQueue::due(Nanos now) const {
  return queue_.empty() || now < retry_at_ ? nullptr : &queue_.front();
}

Nanos PushQueue::dueAt() const { return queue_.empty() ? INT64_MAX : retry_at_; }

std::string PushQueue::answered(const Result<http::ClientResponse>& answer, Nanos now,
                                const PushRejection& rejection) {
  if (!answer || format_.isRepeatedAfter(answer->status)) {
    count(PushFigures::kFailed);
    Nanos pause = backoff_.fail();
    if (answer) pause = std::max(pause, std::min(answer->retry_after, kMaxRetryAfter));
    retry_at_ = now + pause;
    return logged(answer ? std::to_string(answer->status) : answer.error().reason,
                  (answer ? reasonOf(*answer) : answer.error().reason) +
                      "; what is pushed waits and is repeated",
                  now, true);
  }
  backoff_.reset();
  retry_at_ = 0;
  const bool taken = answer->status / 100 == 2;
  count(taken ? PushFigures::kSent : PushFigures::kRefused);
  if (taken) figures_.bytes_sent += queue_.front().body.size();
  const std::uint64_t rejected = std::min<std::uint64_t>(rejection.samples, queue_.front().samples);
  removeFirst();
  if (taken && rejected > 0) {
    figures_.samples[PushFigures::kSent] -= rejected;
    figures_.samples[PushFigures::kRefused] += rejected;
    return logged("partial",
                  "the receiver rejects a part: " + asOneLine(rejection.reason, kMaxPushReason),
                  now, false);
  }
  if (!taken) {
    return logged(std::to_string(answer->status),
                  reasonOf(*answer) + "; what it refuses is dropped", now, false);
  }
  if (failing_) return logged("", "the receiver takes what is pushed again", now, false);
  problem_.clear();
  return "";
}

std::string PushQueue::logged(std::string kind, std::string text, Nanos now, bool failing) {
  if (kind == problem_ || now < quiet_until_) return "";
  quiet_until_ = now + kLogInterval;
  problem_ = std::move(kind);
  failing_ = failing;
  return text;
}

PushFigures PushQueue::figures() const {
  PushFigures figures = figures_;
  for (const PushRequest& request : queue_) figures.waiting_samples += request.samples;
  figures.oldest = queue_.empty() ? 0 : queue_.front().made;
  return figures;
}

}  // namespace pingloom::collector
