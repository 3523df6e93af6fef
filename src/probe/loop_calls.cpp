#include "probe/loop_calls.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace pingloom::probe {

LoopCalls::LoopCalls() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

bool LoopCalls::call(std::function<void()> function) {
  Call mine{std::move(function)};
  std::unique_lock lock(mutex_);
  if (closed_) return false;
  waiting_.push_back(&mine);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
  finished_.wait(lock, [&] { return mine.done || closed_; });
  return mine.done;
}

void LoopCalls::run() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  for (Call* call : waiting_) {
    call->function();
    call->done = true;
  }
  waiting_.clear();
  finished_.notify_all();
}

void LoopCalls::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_.clear();
  finished_.notify_all();
}

}  // namespace pingloom::probe
