#include "probe/path_queue.h"

#include <sys/eventfd.h>

#include <iterator>
#include <utility>

namespace pingloom::probe {

PathQueue::PathQueue() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void PathQueue::push(TracedPath&& path) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(path));
    if (waiting_.size() > kMax) {
      waiting_.pop_front();
      ++dropped_;
    }
  }
  // This fails only if the counter is full, and then the descriptor is readable anyway.
  (void)::eventfd_write(event_.get(), 1);
}

std::vector<TracedPath> PathQueue::takeAll() {
  eventfd_t count = 0;
  (void)::eventfd_read(event_.get(), &count);
  const std::lock_guard lock(mutex_);
  std::vector<TracedPath> taken(std::make_move_iterator(waiting_.begin()),
                                std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  return taken;
}

std::uint64_t PathQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace pingloom::probe
