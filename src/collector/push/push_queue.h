// The requests of a push target that wait to be sent, oldest first, and what becomes of them. A
// request that the receiver cannot take now is repeated: after a failed connection or a status that
// the format names, with growing pauses and not before the receiver's Retry-After. One that it
// refuses with another answer is dropped, and so are the oldest ones when the queue is full. Time
// is passed in. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "collector/push/push_format.h"
#include "common/backoff.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::collector {

struct PushFigures {
  // What became of requests and of the samples in them; a failed request is repeated.
  enum Outcome : std::size_t { kSent, kRefused, kFailed, kDropped };
  static constexpr std::array<std::string_view, 4> kOutcomes = {"sent", "refused", "failed",
                                                                "dropped"};
  std::array<std::uint64_t, 4> requests{};
  std::array<std::uint64_t, 4> samples{};
  std::uint64_t bytes_sent = 0;
  std::uint64_t waiting_samples = 0;
  Nanos oldest = 0;  // when the oldest request that waits was made, monotonic; 0 if none waits
};

class PushQueue {
 public:
  static constexpr std::size_t kMaxBytes = 64 * 1024 * 1024;  // of the bodies that wait
  static constexpr Nanos kFirstRetry = kSecond;
  static constexpr Nanos kMaxRetry = 30 * kSecond;
  static constexpr Nanos kMaxRetryAfter = 5 * kMinute;
  static constexpr Nanos kLogInterval = kMinute;  // at most one line in it

  // The format must outlive the queue.
  explicit PushQueue(const PushFormat& format, std::size_t max_bytes = kMaxBytes)
      : format_(format), max_bytes_(max_bytes) {}

  void add(std::vector<PushRequest> requests);
  // Returns the request that is due, which stays valid until add() or answered(); nullptr: none.
  const PushRequest* due(Nanos now) const;
  // Returns when the next request is due; INT64_MAX if none waits.
  Nanos dueAt() const;
  // Takes in what became of the oldest request, and what the receiver rejects of it if it takes it.
  // Returns what there is to log: the first failure or refusal, one of another kind, or that it
  // works again after failures; "" if nothing. What the receiver says does not make a kind, because
  // it may say something else each time.
  std::string answered(const Result<http::ClientResponse>& answer, Nanos now,
                       const PushRejection& rejection = {});
  PushFigures figures() const;

 private:
  void count(PushFigures::Outcome outcome);
  void removeFirst();
  std::string logged(std::string kind, std::string text, Nanos now, bool failing);

  const PushFormat& format_;
  const std::size_t max_bytes_;
  std::deque<PushRequest> queue_;
  std::size_t bytes_ = 0;
  PushFigures figures_;
  Backoff backoff_{kFirstRetry, kMaxRetry};
  Nanos retry_at_ = 0;
  std::string problem_;    // the kind that was logged last; "" while it works
  bool failing_ = false;   // a failure was logged last
  Nanos quiet_until_ = 0;  // no line is logged before
};

}  // namespace pingloom::collector
