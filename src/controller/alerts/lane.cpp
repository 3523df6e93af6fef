#include "controller/alerts/lane.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "common/duration.h"
#include "common/log.h"

namespace pingloom::controller {

AlertLane::AlertLane(const AlertTarget& target, std::string url, NotificationQueue queue,
                     std::function<void()> changed)
    : target_(target),
      url_(std::move(url)),
      place_(placeName(target, url_)),
      changed_(std::move(changed)),
      queue_(std::move(queue)) {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "alert");
}

AlertLane::~AlertLane() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
  giveUpTest();
}

void AlertLane::add(const Notification& notification) {
  {
    const std::lock_guard lock(mutex_);
    const bool newest_only = target_.kind == AlertKind::kAlertmanager;
    if (auto added = queue_.add(notification, newest_only); !added) {
      ++refused_;
      counts_.last_error = added.error().text();
      log::error("alerts target {}: {}; the notification is lost", target_.name,
                 added.error().text());
    }
  }
  wake_.notify_one();
  changed_();
}

void AlertLane::test(Notification notification, TestReply reply) {
  {
    const std::lock_guard lock(mutex_);
    test_ = std::move(notification);
    reply_ = std::move(reply);
  }
  wake_.notify_one();
}

void AlertLane::giveUpTest() {
  DeliveryResult result;
  result.error = "the controller is ending";
  finishTest(result);
}

LaneCounts AlertLane::counts() const {
  const std::lock_guard lock(mutex_);
  LaneCounts made = counts_;
  made.waiting = queue_.size();
  made.dropped = refused_ + queue_.dropped();
  return made;
}

void AlertLane::run() {
  while (auto work = next()) {
    const DeliveryResult result = deliver(target_, url_, work->notification, stop_);
    // An attempt that was cut off is repeated after the next start.
    if (stop_ && !result.delivered) return;
    if (work->test) {
      finishTest(result);
    } else {
      finish(*work, result);
    }
    changed_();
  }
}

std::optional<AlertLane::Work> AlertLane::next() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop_) return std::nullopt;
    if (test_) return Work{*std::exchange(test_, std::nullopt), 0, true};
    const Nanos wait = due_mono_ - monotonicNow();
    if (queue_.size() > 0 && wait <= 0) {
      if (auto front = queue_.front()) {
        return Work{std::move(front->notification), front->number, false};
      }
    } else if (queue_.size() > 0) {
      wake_.wait_for(lock, std::chrono::nanoseconds(wait));
    } else {
      wake_.wait(lock);
    }
  }
}

void AlertLane::finishTest(const DeliveryResult& result) {
  TestReply reply;
  {
    const std::lock_guard lock(mutex_);
    reply = std::exchange(reply_, nullptr);
    test_.reset();
  }
  if (reply) reply(result);
}

void AlertLane::finish(const Work& work, const DeliveryResult& result) {
  const std::lock_guard lock(mutex_);
  if (!result.delivered) {
    ++counts_.failed;
    counts_.last_error = result.error;
    noteFailure(result);
    if (!result.permanent) return;
    ++refused_;
  } else {
    ++counts_.delivered;
    counts_.last_error.clear();
    counts_.last_delivered_utc = utcNow();
    if (std::exchange(failure_logged_, false)) {
      log::info("alerts target {}: {} takes notifications again", target_.name, place_);
    }
    refusal_logged_ = false;
  }
  backoff_.reset();
  due_mono_ = 0;
  queue_.remove(work.number);
}

void AlertLane::noteFailure(const DeliveryResult& result) {
  if (result.permanent) {
    if (std::exchange(refusal_logged_, true)) return;
    log::error("alerts target {}: {}; what it refuses is dropped", target_.name, result.error);
    return;
  }
  const Nanos pause = backoff_.fail();
  due_mono_ = monotonicNow() + pause;
  if (std::exchange(failure_logged_, true)) return;
  log::error("alerts target {}: {}; retrying in {}, then less often", target_.name, result.error,
             formatDuration(pause));
}

}  // namespace pingloom::controller
