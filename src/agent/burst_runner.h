// Runs bursts on the agent: takes the controller's orders, lets a transport probe the pair, and
// reports the results every kReportEvery until every ping has its verdict or the time is over. The
// agent's control thread owns it. Bounds: one burst at a time, kMaxBurstPings pings; a burst lasts
// no longer than its pings, the probe's timeout and kSlack.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/work.h"
#include "common/burst.h"
#include "common/time.h"
#include "control.pb.h"
#include "probe/transport.h"

namespace pingloom::agent {

class BurstRunner {
 public:
  static constexpr Nanos kReportEvery = 100 * kMillisecond;
  // The time beyond a ping's timeout, because verdicts wait for late replies (probe::kWindowGrace).
  static constexpr Nanos kSlack = 2 * kSecond;

  using Transports = std::vector<std::unique_ptr<probe::Transport>>;
  // returns false if there is no connection
  using Send = std::function<bool(const wire::BurstReport&)>;

  // REQUIRES: work and transports outlive it, and the transports have the work.
  BurstRunner(const WorkList& work, const Transports& transports, Send send);

  // Starts the burst, or reports why it cannot.
  void start(const wire::BurstOrder& order, Nanos now);
  // Returns when run() is due, or kNever while there is nothing to do.
  Nanos due() const { return transport_ == nullptr ? kNever : report_due_; }
  void run(Nanos now);
  bool running() const { return transport_ != nullptr; }

 private:
  Result<std::shared_ptr<const probe::Burst>> burstFor(const wire::BurstOrder& order) const;
  probe::Transport* transportOf(Protocol protocol) const;

  const WorkList& work_;
  const Transports& transports_;
  Send send_;
  probe::Transport* transport_ = nullptr;  // runs the burst; nullptr if there is none
  std::uint64_t id_ = 0;
  std::uint32_t count_ = 0;
  Nanos report_due_ = 0;
  Nanos deadline_ = 0;
  std::vector<bool> reported_;  // indexed by sequence - 1
};

}  // namespace pingloom::agent
