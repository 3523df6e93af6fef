#include "controller/control/burst_board.h"

#include <sys/eventfd.h>

#include <utility>

namespace pingloom::controller {

BurstBoard::BurstBoard() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void BurstBoard::ask(BurstOrder order, Reply reply) {
  BurstAnswer refused;
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ && waiting_.size() < kMaxWaiting) {
      waiting_.push_back({std::move(order), std::move(reply)});
      (void)::eventfd_write(event_.get(), 1);
      return;
    }
    refused = stopped_ ? BurstAnswer{0, BurstRefusal::kEnding, "the controller ends"}
                       : BurstAnswer{0, BurstRefusal::kTooMany, "too many requests wait"};
  }
  countRefused(refused.refusal);
  reply(std::move(refused));
}

std::shared_ptr<const BurstSnapshot> BurstBoard::find(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(id);
  return found == known_.end() ? nullptr : found->second;
}

void BurstBoard::stop() {
  std::vector<Asked> waiting;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting = std::exchange(waiting_, {});
  }
  for (const Asked& asked : waiting) {
    countRefused(BurstRefusal::kEnding);
    asked.reply({0, BurstRefusal::kEnding, "the controller ends"});
  }
}

std::vector<BurstBoard::Asked> BurstBoard::takeAsked() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(event_.get(), &ignored);
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void BurstBoard::publish(std::shared_ptr<const BurstSnapshot> snapshot) {
  const std::lock_guard lock(mutex_);
  known_[snapshot->id] = std::move(snapshot);
}

void BurstBoard::forget(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  known_.erase(id);
}

}  // namespace pingloom::controller
