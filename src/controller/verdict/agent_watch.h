// Findings about the agents themselves: one that is gone, one that restarts again and again, or
// many that are gone at once. They are the agents' or the controller's own trouble and never blamed
// on the fabric. The control thread owns it. Memory: a few numbers for each host of the plan.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "common/instant.h"
#include "controller/verdict/finding.h"
#include "controller/verdict/places.h"

namespace pingloom::controller {

class AgentWatch {
 public:
  // An agent that has not been heard for this time is gone. A restart takes less.
  static constexpr Nanos kGone = 5 * kSecond;
  // So many restarts in this time are flapping.
  static constexpr std::size_t kRestarts = 3;
  static constexpr Nanos kFlapping = 10 * kMinute;
  // More agents than this, and more than this share, are one finding.
  static constexpr std::size_t kMany = 8;
  static constexpr double kManyShare = 0.5;

  // What is known about the agent of a host.
  struct Agent {
    std::uint32_t host = 0;  // its number in Places
    bool alive = false;
    Nanos heard_utc = 0;
    std::uint64_t incarnation = 0;
  };

  // `agents`: those that have registered in this run of the controller.
  std::vector<Finding> find(const Places& places, const std::vector<Agent>& agents, Nanos now_utc);

 private:
  struct Known {
    std::uint64_t incarnation = 0;
    std::deque<Nanos> restarts_utc;
  };
  bool flaps(const std::string& host, const Agent& agent, Nanos now_utc);

  std::unordered_map<std::string, Known> known_;  // by host
};

}  // namespace pingloom::controller
