#include "probe/event_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace pingloom::probe {
EventLoop::EventLoop(std::string name, LoopHandler& handler)
    : name_(std::move(name)), handler_(&handler) {}

EventLoop::~EventLoop() { stop(); }

Status EventLoop::watch(int descriptor, std::uint32_t events, std::uint64_t key) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return makeErrnoError(name_, "cannot poll a descriptor", errno);
  }
  return {};
}

void EventLoop::unwatch(int descriptor) const {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

Status EventLoop::open() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid() || !timer_.valid()) {
    return makeErrnoError(name_, "cannot make an event loop", errno);
  }
  // The timer is edge-triggered: setting it again is enough, nothing needs to be read.
  if (auto done = watch(timer_.get(), EPOLLIN | EPOLLET, kTimerKey); !done) return done;
  return watch(calls_.descriptor(), EPOLLIN, kCallsKey);
}

void EventLoop::start() {
  thread_ = std::thread([this] {
    while (!stop_) round();
    calls_.close();
  });
  pthread_setname_np(thread_.native_handle(), name_.substr(0, 15).c_str());
}

void EventLoop::stop() {
  if (!thread_.joinable()) return;
  calls_.call([this] { stop_ = true; });
  thread_.join();
}

void EventLoop::round() {
  armTimer(woke_mono_);
  std::array<epoll_event, 64> events;
  const int ready = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
  const Instant now = Instant::now();
  woke_mono_ = now.mono;
  handler_->wokeUp(now);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == kCallsKey) {
      calls_.run();
    } else if (event.data.u64 != kTimerKey) {
      handler_->ready(event.data.u64, event.events, now);
    }
  }
  handler_->elapse(now);
}

void EventLoop::armTimer(Nanos now) {
  const Nanos next = handler_->nextWake();
  // The timer expires earlier than needed; that wake-up sets it again.
  if (armed_mono_ > now && armed_mono_ <= next) return;
  armed_mono_ = next;
  itimerspec when{};  // zero disarms the timer
  if (next != kNever) {
    const Nanos at = std::max<Nanos>(1, next);  // a time in the past expires at once
    when.it_value.tv_sec = at / kSecond;
    when.it_value.tv_nsec = at % kSecond;
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace pingloom::probe
