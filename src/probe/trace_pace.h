// How fast an agent sends trace packets: routers answer few ICMP messages per second, and they
// answer all hosts, so all transports of an agent share one budget in equal parts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>

#include "common/time.h"

namespace pingloom::probe {

// The budget of an agent. Any thread.
class TraceBudget {
 public:
  static constexpr Nanos kGap = kSecond / 20;  // between two packets of the agent

  void join() { ++sharers_; }
  void leave() { --sharers_; }
  // Between two packets of one sharer.
  Nanos gap() const { return kGap * std::max(sharers_.load(), 1); }

 private:
  std::atomic<int> sharers_ = 0;
};

// When the next trace packet of a transport may leave. All its tracers share one. A transport
// without flows to trace leaves its part of the budget to the others. One thread.
class TracePace {
 public:
  explicit TracePace(std::shared_ptr<TraceBudget> budget = std::make_shared<TraceBudget>())
      : budget_(std::move(budget)) {}
  TracePace(const TracePace&) = delete;
  TracePace& operator=(const TracePace&) = delete;
  ~TracePace() { setFlows(flows_, 0); }

  Nanos next() const { return next_; }
  void sent(Nanos now) { next_ = now + budget_->gap(); }
  // A tracer has so many flows now, and had `before`.
  void setFlows(std::size_t before, std::size_t now) {
    const bool traced = flows_ != 0;
    flows_ += now - before;
    if (!traced && flows_ != 0) budget_->join();
    if (traced && flows_ == 0) budget_->leave();
  }

 private:
  const std::shared_ptr<TraceBudget> budget_;
  std::size_t flows_ = 0;  // of all tracers
  Nanos next_ = 0;
};

}  // namespace pingloom::probe
