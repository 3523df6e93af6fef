// The plan in force, the previous plans, and the update messages between them. Each message is
// serialized once, and ten thousand agents get the same bytes. Bounds: kPlans plans, and one update
// for each as base. The control thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "plan/plan.h"

namespace pingloom::controller {

class PlanHistory {
 public:
  static constexpr std::size_t kPlans = 8;

  void setCurrent(std::shared_ptr<const plan::Plan> plan);
  // REQUIRES: setCurrent() was called.
  std::shared_ptr<const plan::Plan> current() const { return plans_.back().plan; }
  std::uint64_t currentHash() const { return plans_.empty() ? 0 : plans_.back().hash; }
  // Returns a serialized ControllerMessage that updates the held plan to the current one. If the
  // held plan is unknown, the message contains the whole plan. REQUIRES: setCurrent() was called.
  std::shared_ptr<const std::string> updateFrom(std::uint64_t held_hash);

 private:
  struct Known {
    std::uint64_t hash = 0;
    std::shared_ptr<const plan::Plan> plan;
  };
  std::deque<Known> plans_;  // the current plan is the last one
  std::unordered_map<std::uint64_t, std::shared_ptr<const std::string>>
      updates_;  // keyed by base; 0 stands for no base
};

}  // namespace pingloom::controller
