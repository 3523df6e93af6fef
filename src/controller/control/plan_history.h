// The plan in force, the ones before it, and the messages that lead from one to the other, each
// serialized once: ten thousand agents get the same bytes. Bounds: kPlans plans, one update for
// each as base. The control thread.
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
  std::uint64_t currentHash() const { return plans_.empty() ? 0 : plans_.back().hash; }
  // A serialized ControllerMessage that makes the current plan of the one the agent holds, or of
  // nothing where that is not known. REQUIRES: setCurrent() was called.
  std::shared_ptr<const std::string> updateFrom(std::uint64_t held_hash);

 private:
  struct Known {
    std::uint64_t hash = 0;
    std::shared_ptr<const plan::Plan> plan;
  };
  std::deque<Known> plans_;  // the current one last
  std::unordered_map<std::uint64_t, std::shared_ptr<const std::string>>
      updates_;  // by base; 0: none
};

}  // namespace pingloom::controller
