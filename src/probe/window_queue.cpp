#include "probe/window_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace pingloom::probe {

WindowQueue::WindowQueue() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void WindowQueue::push(ClosedWindow&& window, Nanos now_mono) {
  std::vector<ClosedWindow> forgotten;  // freed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(window), now_mono});
    while (now_mono - waiting_.front().since_mono > kMaxWait) {
      forgotten.push_back(std::move(waiting_.front().window));
      waiting_.pop_front();
      ++dropped_;
    }
  }
  const std::uint64_t one = 1;
  // This fails only if the counter is full, and then the descriptor is readable anyway.
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

std::vector<ClosedWindow> WindowQueue::takeAll() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof count);
  std::vector<ClosedWindow> taken;
  const std::lock_guard lock(mutex_);
  taken.reserve(waiting_.size());
  for (Waiting& waiting : waiting_) taken.push_back(std::move(waiting.window));
  waiting_.clear();
  return taken;
}

std::uint64_t WindowQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void WindowQueue::recycle(std::vector<PairWindow>&& pairs) {
  std::vector<PairWindow> mine = std::move(pairs);  // if it is not kept, it is freed after the lock
  for (PairWindow& pair : mine) pair.clear();
  const std::lock_guard lock(mutex_);
  if (!spares_.empty() && spare_pairs_ + mine.size() > kMaxSparePairs) return;
  spare_pairs_ += mine.size();
  spares_.push_back(std::move(mine));
}

std::vector<PairWindow> WindowQueue::spare(std::size_t pairs) {
  std::vector<PairWindow> found;
  {
    const std::lock_guard lock(mutex_);
    // Prefer the set nearest in size, so that as many pairs as possible are used again.
    const auto distance = [&](const std::vector<PairWindow>& set) {
      return set.size() > pairs ? set.size() - pairs : pairs - set.size();
    };
    const auto best =
        std::min_element(spares_.begin(), spares_.end(),
                         [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    if (best != spares_.end()) {
      spare_pairs_ -= best->size();
      found = std::move(*best);
      spares_.erase(best);
    }
  }
  found.resize(pairs);
  return found;
}

}  // namespace pingloom::probe
