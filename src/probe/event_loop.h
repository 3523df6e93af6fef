// The loop of a transport's thread. It waits for descriptors and one timer, and runs functions that
// other threads pass to it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "probe/loop_calls.h"

namespace pingloom::probe {

// Handles what happens on a loop. The loop calls it from its own thread only.
class LoopHandler {
 public:
  virtual ~LoopHandler() = default;
  // These three are called in this order after every wake-up; `now` is the time of the wake-up.
  virtual void wokeUp(const Instant& now) = 0;
  // `events` is epoll's mask of what the descriptor with this key is ready for.
  virtual void ready(std::uint64_t key, std::uint32_t events, const Instant& now) = 0;
  virtual void elapse(const Instant& now) = 0;
  // When elapse() must be called next, on the monotonic clock. A time in the past means at once.
  virtual Nanos nextWake() = 0;
};

// The handler outlives the loop, whose destructor stops the thread.
class EventLoop {
 public:
  static constexpr std::uint64_t kReservedKeys = UINT64_MAX - 1;  // the loop uses this and above

  // `name` becomes the name of the thread.
  EventLoop(std::string name, LoopHandler& handler);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  Status open();
  // Waits for `events` (epoll's mask), level-triggered; `key` is below kReservedKeys. May be called
  // before start() and from the loop's thread. The kernel forgets a descriptor whose only copy is
  // closed; any other has to be removed by unwatch() first.
  Status watch(int descriptor, std::uint32_t events, std::uint64_t key) const;
  void unwatch(int descriptor) const;
  void start();
  // Runs the function on the loop's thread and waits until it has returned. Any other thread.
  void call(std::function<void()> function) { calls_.call(std::move(function)); }
  // Ends the thread. The handler is not called after that.
  void stop();
  // Waits for one wake-up and handles it. This is for tools and tests, instead of start().
  void round();

 private:
  static constexpr std::uint64_t kTimerKey = kReservedKeys;
  static constexpr std::uint64_t kCallsKey = kReservedKeys + 1;

  void armTimer(Nanos now);

  std::string name_;
  LoopHandler* handler_;
  UniqueFd epoll_;
  UniqueFd timer_;
  Nanos armed_mono_ = kNever;
  Nanos woke_mono_ = 0;
  LoopCalls calls_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pingloom::probe
