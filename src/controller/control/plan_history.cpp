#include "controller/control/plan_history.h"

#include <algorithm>
#include <utility>

#include "control.pb.h"
#include "plan/plan_codec.h"

namespace pingloom::controller {

void PlanHistory::setCurrent(std::shared_ptr<const plan::Plan> plan) {
  const std::uint64_t hash = plan::hash(*plan);
  std::erase_if(plans_, [&](const Known& known) { return known.hash == hash; });
  plans_.push_back({hash, std::move(plan)});
  if (plans_.size() > kPlans) plans_.pop_front();
  updates_.clear();
}

std::shared_ptr<const std::string> PlanHistory::updateFrom(std::uint64_t held_hash) {
  const auto base = std::find_if(plans_.begin(), plans_.end(),
                                 [&](const Known& known) { return known.hash == held_hash; });
  const bool known = base != plans_.end();
  auto& update = updates_[known ? held_hash : 0];
  if (update == nullptr) {
    wire::ControllerMessage message;
    *message.mutable_plan() = plan::encode(*plans_.back().plan, known ? base->plan.get() : nullptr);
    update = std::make_shared<const std::string>(message.SerializeAsString());
  }
  return update;
}

}  // namespace pingloom::controller
