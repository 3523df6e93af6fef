// PINGs from their due time until they have left: the batch that leaves next, and those that wait
// because the kernel or the device has no room. One socket or endpoint has one queue; UDP and RDMA
// share the class. One thread; the time comes in as an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/distribution.h"
#include "common/time.h"
#include "probe/exchanges.h"

namespace pingloom::probe {

struct Ping {
  std::uint32_t task;
  std::uint32_t target;
  Nanos due_mono;
};

// What all queues of a prober count together.
struct PingCounts {
  std::uint64_t sent = 0;
  std::uint64_t skipped = 0;  // a limit was reached, or there was no room for a whole interval
  Distribution lateness;      // between the due time and T0, in ns
};

// Bounds: kBatch PINGs in the batch, kMaxWaiting that wait. Tasks, exchanges, stall watch and
// counts outlive the queue. Allocates nothing once its vectors have grown.
class PingQueue {
 public:
  static constexpr std::size_t kBatch = 64;  // PINGs that leave with one T0
  // A backlog of many thousand PINGs leaves in several wake-ups, so that answers are read between.
  static constexpr int kMaxBatches = 4;
  static constexpr std::size_t kMaxWaiting = 1024;

  // A PING that found no room is sent again after `retry_after`.
  PingQueue(TaskList& tasks, Exchanges& exchanges, StallWatch& stalls, PingCounts& counts,
            Nanos retry_after);

  // Opens the exchange of a PING. nullptr: there are too many exchanges; the PING is skipped.
  const Exchange* open(const Ping& ping, std::uint64_t nonce, const Instant& now);

  // ---- the batch ----

  std::size_t size() const { return batch_.size(); }
  bool empty() const { return batch_.empty(); }
  std::size_t room() const { return kBatch - batch_.size(); }
  // Adds a PING whose exchange is open. REQUIRES: room() > 0.
  void add(const Ping& ping, std::uint32_t exchange) { batch_.push_back({ping, exchange}); }
  // Makes `now` the batch's T0. Called right before the call that sends it.
  void stamp(const Instant& now);
  // The batch was sent, except for the last `unsent` PINGs, which found no room and wait.
  void finish(std::size_t unsent);

  // ---- those that wait ----

  // A PING found no room: it waits, and its exchange is cancelled.
  void wait(const Ping& ping, std::uint32_t exchange, Nanos now);
  bool hasWaiting() const { return !waiting_.empty(); }
  // When retry() must be called; kNever while none waits.
  Nanos retryAt() const { return waiting_.empty() ? kNever : retry_mono_; }
  // Calls send(ping) for each that waits; one that is a whole interval late is skipped instead.
  template <typename Send>
  void retry(Nanos now, Send&& send) {
    waiting_.swap(retried_);
    for (const Ping& ping : retried_) {
      if (now - ping.due_mono >= (*tasks_)[ping.task].assignment->probe.interval) {
        skip(ping, now);
      } else {
        send(ping);
      }
    }
    retried_.clear();
  }
  // Counts a PING that is not sent.
  void skip(const Ping& ping, Nanos now);
  // Skips those that wait and whose task has this number or a higher one.
  void skipFrom(std::uint32_t task);

 private:
  struct Entry {
    Ping ping;
    std::uint32_t exchange;
  };
  void wait(const Ping& ping, Nanos now);

  TaskList* tasks_;
  Exchanges* exchanges_;
  StallWatch* stalls_;
  PingCounts* counts_;
  Nanos retry_after_;
  std::vector<Entry> batch_;
  Nanos sent_mono_ = 0;  // the batch's T0
  std::vector<Ping> waiting_;
  std::vector<Ping> retried_;  // empty but for its memory, except while retry() runs
  Nanos retry_mono_ = kNever;
};

}  // namespace pingloom::probe
