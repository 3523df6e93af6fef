#include "controller/model/collector_roster.h"

#include <utility>

namespace pingloom::controller {

void CollectorRoster::publish(CollectorRegistrations own) {
  const std::lock_guard lock(mutex_);
  own_ = std::move(own);
}

CollectorRegistrations CollectorRoster::own() const {
  const std::lock_guard lock(mutex_);
  return own_;
}

void CollectorRoster::tell(const std::string& controller, ToldCollectors told) {
  const std::lock_guard lock(mutex_);
  if (told_.size() >= kMaxControllers && !told_.contains(controller)) return;
  const bool woken = !told_.empty();
  told_[controller] = std::move(told);
  if (!woken && wake_) wake_();
}

std::map<std::string, ToldCollectors> CollectorRoster::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(told_, {});
}

void CollectorRoster::wakeBy(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
  if (!told_.empty() && wake_) wake_();
}

}  // namespace pingloom::controller
