// Takes what agents tell about the counters of their NICs and ports, and gathers by how much they
// grow in each minute for the history. The control thread owns it. Bound: kMaxWaiting records wait
// for their minute to end; further ones are dropped and counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/time.h"
#include "controller/control/registry.h"
#include "controller/model/host_counters.h"

namespace pingloom::controller {

class CounterLog {
 public:
  static constexpr std::size_t kMaxWaiting = 200'000;
  // What takeEnded() returns at most, so that no transaction of the ledger takes long.
  static constexpr std::size_t kMaxAtOnce = 4000;
  // After a silence of this length nobody can say in which minute something moved.
  static constexpr Nanos kLongestGap = kMinute;

  // Takes a heartbeat, or returns the reason for refusing its counters, and keeps the previous
  // ones. Another controller keeps the history of the agents that are registered with it.
  std::optional<Refusal> take(Agent& agent, const wire::AgentStatus& status, Instant now);
  // Returns records of the minutes that have ended, those of the oldest first.
  std::vector<CounterRecord> takeEnded(Nanos now_utc, std::size_t most = kMaxAtOnce);
  // Returns all, also those of the minute that has not ended.
  std::vector<CounterRecord> takeAll() { return takeEnded(kNever, kMaxWaiting); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Key = std::tuple<std::string, std::string, std::uint32_t, CounterId>;

  void note(const std::string& host, CounterRecord moved);

  std::map<Nanos, std::map<Key, CounterRecord>> minutes_;  // at most two, unless the clock is set
  std::size_t waiting_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace pingloom::controller
