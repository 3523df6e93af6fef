#include "controller/control/order_board.h"

#include <sys/eventfd.h>

#include <utility>

namespace pingloom::controller {

OrderBoard::OrderBoard() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

bool OrderBoard::ask(VerdictOrder order, Reply reply) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || waiting_.size() >= kMaxWaiting) return false;
  waiting_.push_back({std::move(order), std::move(reply)});
  (void)::eventfd_write(event_.get(), 1);
  return true;
}

void OrderBoard::stop() {
  std::vector<Asked> waiting;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting = std::exchange(waiting_, {});
  }
  for (const Asked& asked : waiting) {
    asked.reply(makeError("controller", "is shutting down"));
  }
}

std::vector<OrderBoard::Asked> OrderBoard::takeAsked() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(event_.get(), &ignored);
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

}  // namespace pingloom::controller
