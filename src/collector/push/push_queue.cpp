#include "collector/push/push_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxPushReason = 200;  // bytes of an answer in the log

bool isRetried(unsigned status) { return status == 429 || status / 100 == 5; }

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
  if (!answer || isRetried(answer->status)) {
    count(PushFigures::kFailed);
    Nanos pause = backoff_.fail();
    if (answer) pause = std::max(pause, std::min(answer->retry_after, kMaxRetryAfter));
    retry_at_ = now + pause;
    return note((answer ? reasonOf(*answer) : answer.error().reason) +
                "; what is pushed waits and is repeated");
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
    return note("the receiver rejects a part: " + asOneLine(rejection.reason, kMaxPushReason));
  }
  if (!taken) return note(reasonOf(*answer) + "; what it refuses is dropped");
  return std::exchange(problem_, "").empty() ? "" : "the receiver takes what is pushed again";
}

std::string PushQueue::note(std::string problem) {
  if (problem == problem_) return "";
  problem_ = std::move(problem);
  return problem_;
}

PushFigures PushQueue::figures() const {
  PushFigures figures = figures_;
  for (const PushRequest& request : queue_) figures.waiting_samples += request.samples;
  figures.oldest = queue_.empty() ? 0 : queue_.front().made;
  return figures;
}

}  // namespace pingloom::collector
