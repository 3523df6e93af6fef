// Makes findings about the agents themselves: an agent is gone, an agent restarts again and again,
// or many agents are gone at once. These are problems of the agents or of the controller, and the
// fabric is never blamed for them. The control thread owns the watch. Memory: a few numbers for
// each host of the plan.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "common/time.h"
#include "controller/verdict/finding.h"
#include "controller/verdict/places.h"

namespace pingloom::controller {

class AgentWatch {
 public:
  // An agent that has not been heard for this time is gone. A restart takes less.
  static constexpr Nanos kGone = 4500 * kMillisecond;
  // Findings about a host whose agent has been silent for this time wait until the agent is heard
  // again or counts as gone.
  static constexpr Nanos kSilent = 2 * kSecond;
  // An agent that restarts so many times within this time is flapping.
  static constexpr std::size_t kRestarts = 3;
  static constexpr Nanos kFlapping = 10 * kMinute;
  // If more agents than this, and at least this share of all, are gone, that is one finding.
  static constexpr std::size_t kMany = 8;
  static constexpr double kManyShare = 0.5;

  // What is known about the agent of a host.
  struct Agent {
    std::uint32_t host = 0;  // its number in Places
    bool alive = false;
    Nanos heard_utc = 0;
    std::uint64_t incarnation = 0;
  };

  // `agents` are those that have registered in this run of the controller.
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
