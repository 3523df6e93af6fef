// Takes in what other controllers tell about their agents: the registry gets the agents, and the
// grid, the board's paths and the counters get what these report, as if they were registered here.
// The history gets nothing of it. An agent that is registered here is not told by others.
// A controller from which nothing is heard, or that does not name an agent any more, may have lost
// it to another one, which tells it soon. Its agents stay as they were for kLinger and are
// forgotten then; meanwhile their rows become stale. The control thread; the owner calls runDue()
// at nextDue().
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "control.pb.h"
#include "controller/control/batch_intake.h"
#include "controller/control/counter_log.h"
#include "controller/control/path_intake.h"
#include "controller/control/registry.h"

namespace pingloom::controller {

class RelayIntake {
 public:
  static constexpr Nanos kLinger = 20 * kSecond;

  // REQUIRES: all of them outlive it.
  RelayIntake(Registry& registry, BatchIntake& batches, PathIntake& paths, CounterLog& counters)
      : registry_(registry), batches_(batches), paths_(paths), counters_(counters) {}

  // Takes what the controller `from` tells. Returns false if it has told of an agent that it has
  // not named before: something was missed.
  bool take(const std::string& from, const wire::Relays& told, Instant now);
  // Nothing is heard from this controller any more.
  void lost(const std::string& from, Instant now);
  void runDue(Nanos now_mono);
  Nanos nextDue() const { return due_mono_; }  // CLOCK_MONOTONIC
  // Tells whether an agent changed since the last call.
  bool takeHostsChanged() { return std::exchange(hosts_changed_, false); }

 private:
  struct Leaving {
    std::string from;
    Nanos due_mono = 0;
  };

  bool take(const std::string& from, const wire::Relay& relay, Instant now);
  void takeAgent(const std::string& from, const wire::Relay& relay, Instant now);
  void takeHeartbeat(Agent& agent, const wire::Heartbeat& heartbeat, Instant now);
  void takeGone(Agent& agent, const wire::RelayedGone& gone, Instant now);
  void complete(const std::string& from, Instant now);
  void leave(const std::string& from, const std::string& host, Instant now);

  Registry& registry_;
  BatchIntake& batches_;
  PathIntake& paths_;
  CounterLog& counters_;
  // The hosts that a controller has named since it began from the start, until it is complete.
  std::map<std::string, std::set<std::string>> named_;
  std::map<std::string, Leaving> leaving_;  // hosts that are forgotten unless they are named again
  Nanos due_mono_ = kNever;                 // the first of them
  bool hosts_changed_ = false;
};

}  // namespace pingloom::controller
