// Delivers notifications to one place, in their order and on a thread of its own, so that a place
// that hangs delays no other. An attempt that fails is repeated with growing pauses; what the place
// refuses for good is dropped. Any thread may call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/backoff.h"
#include "controller/alerts/delivery.h"
#include "controller/alerts/queue.h"

namespace pingloom::controller {

struct LaneCounts {
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t waiting = 0;
  std::string last_error;
  Nanos last_delivered_utc = 0;
};

class AlertLane {
 public:
  static constexpr Nanos kFirstRetry = kSecond;
  static constexpr Nanos kMaxRetry = 5 * kMinute;
  using TestReply = std::function<void(const DeliveryResult&)>;

  // `changed` is called on any thread, without a lock, when the counts have changed. `url` is ""
  // where the target has none. REQUIRES: `target` outlives the lane.
  AlertLane(const AlertTarget& target, std::string url, NotificationQueue queue,
            std::function<void()> changed);
  ~AlertLane();  // cancels the attempt in flight and joins the thread
  AlertLane(const AlertLane&) = delete;
  AlertLane& operator=(const AlertLane&) = delete;

  const std::string& place() const { return place_; }
  void add(const Notification& notification);
  // Sends a notification before all others, whatever the pause. The reply is called once, on any
  // thread. REQUIRES: no other test is under way.
  void test(Notification notification, TestReply reply);
  // Replies to a test that is under way that it was given up.
  void giveUpTest();
  LaneCounts counts() const;

 private:
  struct Work {
    Notification notification;
    std::uint64_t number = 0;  // in the queue
    bool test = false;
  };

  void run();
  std::optional<Work> next();
  void finishTest(const DeliveryResult& result);
  void finish(const Work& work, const DeliveryResult& result);
  void noteFailure(const DeliveryResult& result);

  const AlertTarget& target_;
  const std::string url_;
  const std::string place_;
  const std::function<void()> changed_;
  std::atomic<bool> stop_{false};

  // It protects everything below.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  NotificationQueue queue_;
  std::optional<Notification> test_;  // waits to be sent
  // What is called with the answer to the test that waits or is in flight.
  TestReply reply_;
  LaneCounts counts_;
  std::uint64_t refused_ = 0;  // dropped because the place refused them
  Backoff backoff_{kFirstRetry, kMaxRetry};
  Nanos due_mono_ = 0;
  bool failure_logged_ = false;
  bool refusal_logged_ = false;

  std::thread thread_;
};

}  // namespace pingloom::controller
