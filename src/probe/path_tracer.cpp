#include "probe/path_tracer.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace pingloom::probe {
namespace {

int timesIn(const std::vector<PathHop>& hops, const IpAddress& router) {
  return static_cast<int>(std::count_if(hops.begin(), hops.end(),
                                        [&](const PathHop& hop) { return hop.router == router; }));
}

}  // namespace

void PathTracer::setFlows(const std::vector<TracedFlow>& flows) {
  std::unordered_map<std::uint64_t, Nanos> due_of;
  for (const Flow& flow : flows_) due_of[flow.flow.key] = flow.due;
  std::vector<Flow> next;
  next.reserve(flows.size());
  for (const TracedFlow& flow : flows) {
    const auto known = due_of.find(flow.key);
    next.push_back({flow, known == due_of.end() ? 0 : known->second});
  }
  std::vector<std::uint32_t> order(next.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return next[a].due < next[b].due; });
  pace_.setFlows(flows_.size(), next.size());
  flows_.clear();
  places_.resize(order.size());
  for (const std::uint32_t from : order) {
    places_[from] = static_cast<std::uint32_t>(flows_.size());
    flows_.push_back(next[from]);
  }
  cursor_ = 0;
  urgent_.clear();
  pending_.clear();
  // A trace that is dropped has had its turn, so its flow is urgent now.
  std::unordered_map<std::uint64_t, std::uint32_t> place_of;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) place_of[flows_[i].flow.key] = i;
  for (const Active& trace : active_) {
    const auto place = place_of.find(trace.flow.key);
    if (place != place_of.end() && pending_.insert(trace.flow.key).second) {
      urgent_.push_back(place->second);
    }
  }
  active_.clear();
}

bool PathTracer::traceSoon(std::size_t flow, Nanos now) {
  if (flow >= places_.size()) return false;
  if (now - hurried_at_ >= kUrgentPause) {
    hurried_.clear();
    hurried_at_ = now;
  }
  const std::uint32_t place = places_[flow];
  const std::uint64_t key = flows_[place].flow.key;
  if (pending_.contains(key)) return false;
  if (hurried_.size() >= kMaxUrgent || !hurried_.insert(key).second) return false;
  pending_.insert(key);
  urgent_.push_back(place);
  return true;
}

std::optional<TracePacket> PathTracer::next(Nanos now) {
  giveUp(now);
  if (now < pace_.next()) return std::nullopt;
  auto waiting = std::find_if(active_.begin(), active_.end(),
                              [](const Active& trace) { return !trace.in_flight; });
  if (waiting == active_.end()) {
    if (!begin(now)) return std::nullopt;
    waiting = std::prev(active_.end());
  }
  return send(*waiting, now);
}

// Whether the flow at the cursor is to be traced now. Those whose trace waits or has begun already
// have their turn by that.
bool PathTracer::isDue(Nanos now) {
  while (!flows_.empty() && flows_[cursor_].due <= now) {
    if (!pending_.contains(flows_[cursor_].flow.key)) return true;
    flows_[cursor_].due = now + kPeriod;
    cursor_ = (cursor_ + 1) % flows_.size();
  }
  return false;
}

// Starts the trace whose turn it is. Returns false if there is none.
bool PathTracer::begin(Nanos now) {
  if (active_.size() >= kMaxActive) return false;
  const bool is_due = isDue(now);
  if (urgent_.empty() && !is_due) return false;
  was_urgent_ = !urgent_.empty() && !(is_due && was_urgent_);
  if (was_urgent_) {
    start(flows_[urgent_.front()].flow);
    urgent_.pop_front();
    return true;
  }
  flows_[cursor_].due = now + kPeriod;
  start(flows_[cursor_].flow);
  cursor_ = (cursor_ + 1) % flows_.size();
  return true;
}

void PathTracer::start(const TracedFlow& flow) {
  pending_.insert(flow.key);
  active_.push_back({.flow = flow, .hops = {}});
}

void PathTracer::dropEnded() {
  std::erase_if(active_, [&](const Active& trace) {
    if (trace.tries >= 0) return false;
    pending_.erase(trace.flow.key);
    return true;
  });
}

TracePacket PathTracer::send(Active& trace, Nanos now) {
  trace.in_flight = true;
  trace.nonce = nonces_.next();
  trace.sent = now;
  ++trace.tries;
  pace_.sent(now);
  return {trace.flow.task, trace.flow.target, static_cast<std::uint8_t>(trace.hops.size() + 1),
          trace.nonce};
}

void PathTracer::giveUp(Nanos now) {
  for (Active& trace : active_) {
    if (trace.in_flight && now - trace.sent >= kTimeout) noAnswer(trace);
  }
  dropEnded();
}

void PathTracer::noAnswer(Active& trace) {
  trace.in_flight = false;
  if (trace.tries < kTries) return;
  trace.tries = 0;
  trace.hops.push_back({});
  ++trace.silent;
  if (trace.silent >= kMaxSilent) return finish(trace, PathEnd::kSilent, 0);
  if (trace.hops.size() >= kMaxPathHops) finish(trace, PathEnd::kTooLong, 0);
}

// The caller removes the trace, which negative tries mark.
void PathTracer::finish(Active& trace, PathEnd end, Nanos destination_rtt) {
  // Nothing is known of what comes behind the last router that answered.
  if (end != PathEnd::kReached) trace.hops.resize(trace.hops.size() - trace.silent);
  finished_.push_back({trace.flow, std::move(trace.hops), end, destination_rtt});
  trace.in_flight = false;
  trace.tries = -1;
}

PathTracer::Active* PathTracer::inFlight(std::uint64_t nonce) {
  const auto found = std::find_if(active_.begin(), active_.end(), [&](const Active& trace) {
    return trace.in_flight && trace.nonce == nonce;
  });
  return found == active_.end() ? nullptr : &*found;
}

bool PathTracer::expired(std::uint64_t nonce, const IpAddress& router, Nanos now) {
  Active* trace = inFlight(nonce);
  if (trace == nullptr) return false;
  trace->in_flight = false;
  trace->tries = 0;
  trace->silent = 0;
  trace->hops.push_back({router, now - trace->sent});
  if (timesIn(trace->hops, router) >= kMaxRepeats) {
    finish(*trace, PathEnd::kLoop, 0);
  } else if (trace->hops.size() >= kMaxPathHops) {
    finish(*trace, PathEnd::kTooLong, 0);
  }
  dropEnded();
  return true;
}

bool PathTracer::answered(std::uint64_t nonce, Nanos now) {
  Active* trace = inFlight(nonce);
  if (trace == nullptr) return false;
  finish(*trace, PathEnd::kReached, now - trace->sent);
  dropEnded();
  return true;
}

void PathTracer::cancel(std::uint64_t nonce) {
  if (Active* trace = inFlight(nonce)) trace->tries = -1;
  dropEnded();
}

std::vector<FinishedTrace> PathTracer::takeFinished() { return std::exchange(finished_, {}); }

Nanos PathTracer::nextWake() const {
  Nanos soonest = kNever;
  bool sends = !urgent_.empty() && active_.size() < kMaxActive;
  for (const Active& trace : active_) {
    if (trace.in_flight) {
      soonest = std::min(soonest, trace.sent + kTimeout);
    } else {
      sends = true;
    }
  }
  if (sends) return std::min(soonest, pace_.next());
  if (!flows_.empty() && active_.size() < kMaxActive) {
    soonest = std::min(soonest, std::max(pace_.next(), flows_[cursor_].due));
  }
  return soonest;
}

}  // namespace pingloom::probe
