// Takes in what other controllers tell about their agents: the registry gets the agents, and the
// grid, the board's paths and the counters get what these report, as if they were registered here.
// The history gets nothing of it. An agent that is registered here is not told by others.
// An agent whose controller tells nothing of it for kLinger counts as gone, because its heartbeats
// are told each second: it has left that controller and registered nowhere else. While its
// controller itself is not heard, nobody knows, so the agent stays as it was, and its rows become
// stale.
// The control thread. Bounds: those of the registry, and a name for each agent that is not taken.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "control.pb.h"
#include "controller/control/batch_intake.h"
#include "controller/control/bursts.h"
#include "controller/control/counter_log.h"
#include "controller/control/path_intake.h"
#include "controller/control/registry.h"
#include "controller/model/board.h"

namespace pingloom::controller {

class RelayIntake {
 public:
  static constexpr Nanos kLinger = 20 * kSecond;
  static constexpr std::size_t kMaxNameBytes = 253;  // of a controller that an agent was sent to
  static constexpr Nanos kRetryRefused = 30 * kSecond;
  static constexpr Nanos kWarnPause = kMinute;  // between two warnings about one controller

  // REQUIRES: all of them outlive it.
  RelayIntake(const Board& board, Registry& registry, BatchIntake& batches, PathIntake& paths,
              CounterLog& counters, Bursts& bursts)
      : board_(board),
        registry_(registry),
        batches_(batches),
        paths_(paths),
        counters_(counters),
        bursts_(bursts) {}

  // Takes what the controller `from` tells. Returns false if it has told of an agent that it has
  // not named before: something was missed, and it should tell everything again.
  bool take(const std::string& from, const wire::Relays& told, Instant now);
  // Takes what an agent of the controller `from` says of a burst that was ordered here.
  void takeBurst(const std::string& from, const wire::RelayedBurstReport& told, Instant now);
  // Ends the presence of agents that nobody has told for kLinger. `unheard` says of a controller
  // that it may have told something for the last kLinger that was not heard.
  void expire(const std::function<bool(const std::string&)>& unheard, Instant now);
  // Tells whether an agent changed since the last call.
  bool takeHostsChanged() { return std::exchange(hosts_changed_, false); }

 private:
  bool take(const std::string& from, const wire::Relay& relay, Instant now);
  void takeAgent(const std::string& from, const wire::Relay& relay, Instant now);
  void takeBatch(const std::string& from, const Agent& agent, const wire::RelayedBatch& batch,
                 Instant now);
  void takeHeartbeat(Agent& agent, const wire::Heartbeat& heartbeat, Instant now);
  void takeMove(Agent& agent, const std::string& controller, Instant now);
  void warn(const std::string& from, const std::string& host, const std::string& fault,
            Instant now);
  bool knowsBetter(const std::string& from, const std::string& host, Instant now) const;

  const Board& board_;
  Registry& registry_;
  BatchIntake& batches_;
  PathIntake& paths_;
  CounterLog& counters_;
  Bursts& bursts_;
  // Agents of a controller that the registry has refused, since when; until it tells everything
  // again.
  std::map<std::string, std::map<std::string, Nanos>> refused_;
  std::map<std::string, Nanos> warned_mono_;  // by controller: the last time about its batches
  bool hosts_changed_ = false;
};

}  // namespace pingloom::controller
