// Sends the PINGs of one port and follows them to their verdicts. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/distribution.h"
#include "common/tick_clock.h"
#include "common/time.h"
#include "probe/exchanges.h"
#include "probe/nonces.h"
#include "probe/pace.h"
#include "probe/ping_queue.h"
#include "probe/rdma/peers.h"
#include "probe/stall_watch.h"
#include "probe/task_list.h"
#include "probe/transport.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::probe::rdma_ud {

// The device and the clock that a port's rows come from. A row never mixes two.
struct Origin {
  std::string device;
  TickClock clock = TickClock::nanoseconds(ClockSource::kSoftware);
};

// While the port has no endpoint, or the target has none, a PING counts as sent and unreachable. So
// does one that is longer than the path MTU of either side; it counts as a misfit too, and the log
// says so once.
// Before the first endpoint table nothing is known about targets, and PINGs are skipped.
// Context, peers and stall watch outlive it. Memory: 48 bytes for each target and path.
class Prober {
 public:
  static constexpr Nanos kRetry = kMillisecond;
  // After this many losses in a row the path is looked up again.
  static constexpr std::uint8_t kMissedTooMany = 3;

  struct Target {
    rdma::UdPath path;
    std::uint32_t qpn = 0;
    std::uint32_t q_key = 0;
    std::uint32_t mtu = 0;  // the longest PING that both sides take
    bool there = false;
    std::uint8_t missed = 0;  // losses in a row
  };

  Prober(const AgentContext& context, const Origin& origin, const Peers& peers, StallWatch& stalls);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  void setWork(const std::vector<std::shared_ptr<const plan::Assignment>>& work,
               const Instant& now);
  void startBurst(const std::shared_ptr<const Burst>& burst, Nanos now);
  void endBurst();
  // Closes all windows as they are and stops.
  void flush(const Instant& now);
  // Called when the peers have changed. PINGs in flight to an endpoint that is gone are not
  // counted.
  void peersChanged();
  // Sets the endpoint; nullptr if there is none. PINGs in flight are not counted.
  void setEndpoint(rdma::UdEndpoint* endpoint, std::uint32_t q_key);

  void sent(std::uint32_t id, const rdma::UdSent& sent);
  std::optional<DropReason> answered(const Answer& answer, const Instant& now);
  // Gives verdicts and closes windows as of `handled`, then sends the PINGs that are due at `now`.
  // REQUIRES: everything that arrived before `handled` has been passed to answered().
  void elapse(Nanos handled, Nanos now);
  Nanos nextWake() const;
  // Whether PINGs are due at `now`, or wait for room. They leave before answers to others.
  bool wantsToSend(Nanos now) const {
    return std::min(pace_.departure(tasks_.nextDue()), queue_.retryAt()) <= now;
  }
  bool hasWaiting() const { return queue_.hasWaiting(); }

  TaskList& tasks() { return tasks_; }
  const TaskList& tasks() const { return tasks_; }
  const Target& target(std::uint32_t task, std::uint32_t target) const {
    return targets_[task][target];
  }
  // `lost` is called for each PING that nobody answered.
  void onLost(std::function<void(std::uint32_t task, std::uint32_t target)> lost) {
    lost_ = std::move(lost);
  }
  std::uint64_t pingsSent() const { return counts_.sent; }
  std::uint64_t pingsSkipped() const { return counts_.skipped + tasks_.skipped(); }
  Distribution takeLateness();

 private:
  Target targetFor(const Task& task, std::uint32_t target) const;
  void findTargets();
  void findTargets(std::uint32_t task);
  void forget(std::uint32_t task, std::uint32_t target);
  void missed(std::uint32_t task, std::uint32_t target);
  void sendDue(Nanos now);
  void sendTask(std::uint32_t task, Nanos until);
  void ping(const Ping& ping, const Instant& now);
  void post(const Ping& ping, const Target& target, const Exchange& exchange);
  void countUnreachable(const Ping& ping, const Instant& now, bool misfit);
  void sayMisfits(std::uint32_t task);
  void leave();

  const AgentContext* context_;
  TickClock clock_;
  const Peers* peers_;
  TaskList tasks_;
  Exchanges exchanges_;
  rdma::UdEndpoint* endpoint_ = nullptr;
  std::uint32_t q_key_ = 0;  // the endpoint's
  Nonces nonces_;
  std::vector<std::vector<Target>> targets_;         // [task][target]
  std::map<std::string, std::string> said_misfits_;  // by probe; the text logged last
  std::vector<std::uint8_t> buffer_;                 // a PING, with zeros after its header
  std::vector<ProbeSchedule::Due> due_;
  Pace pace_;
  PingCounts counts_;
  PingQueue queue_;  // its batch is posted, and leaves with leave()
  std::function<void(std::uint32_t, std::uint32_t)> lost_ = [](std::uint32_t, std::uint32_t) {};
};

}  // namespace pingloom::probe::rdma_ud
