// The requests of a push target that wait to be sent, oldest first, and what becomes of them. A
// request that the receiver cannot take now is repeated: after a failed connection, a 5xx or a 429,
// with growing pauses and not before the receiver's Retry-After. One that it refuses with another
// answer is dropped, and so are the oldest ones when the queue is full. Time is passed in. One
// thread.
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

  explicit PushQueue(std::size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  void add(std::vector<PushRequest> requests);
  // Returns the request that is due, which stays valid until add() or answered(); nullptr: none.
  const PushRequest* due(Nanos now) const;
  // Returns when the next request is due; INT64_MAX if none waits.
  Nanos dueAt() const;
  // Takes in what became of the oldest request, and what the receiver rejects of it if it takes it.
  // Returns what there is to log: the first failure or refusal, one for another reason, or that it
  // works again; "" if nothing.
  std::string answered(const Result<http::ClientResponse>& answer, Nanos now,
                       const PushRejection& rejection = {});
  PushFigures figures() const;

 private:
  void count(PushFigures::Outcome outcome);
  void removeFirst();
  std::string note(std::string problem);

  const std::size_t max_bytes_;
  std::deque<PushRequest> queue_;
  std::size_t bytes_ = 0;
  PushFigures figures_;
  Backoff backoff_{kFirstRetry, kMaxRetry};
  Nanos retry_at_ = 0;
  std::string problem_;  // what was logged last; "" while it works
};

}  // namespace pingloom::collector
