// Traces the paths of a transport's flows, without sockets or clocks. A trace sends packets with a
// flow's own 5-tuple and hop limits 1, 2, 3, ...; the router where a limit runs out says so by an
// ICMP message, and the destination answers as to any PING. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "common/time.h"
#include "common/traced_path.h"
#include "probe/nonces.h"
#include "probe/trace_pace.h"

namespace pingloom::probe {

// A flow, by the transport's numbers of its task and of the target in that task.
struct TracedFlow {
  std::uint32_t task = 0;
  std::uint32_t target = 0;
  std::uint64_t key = 0;  // the same for the same flow after a plan change, unlike its numbers
};

struct TracePacket {
  std::uint32_t task = 0;
  std::uint32_t target = 0;
  std::uint8_t hop_limit = 0;
  std::uint64_t nonce = 0;  // proves that an answer belongs to this packet
};

struct FinishedTrace {
  TracedFlow flow;
  std::vector<PathHop> hops;
  PathEnd end = PathEnd::kSilent;
  Nanos destination_rtt = 0;
};

// Flows that were never traced come first, and each again after kPeriod. Flows for which
// traceSoon() was called take turns with those. A flow has one trace at a time.
//
// Bounds: 24 bytes for each flow; kMaxActive traces at a time, each with one packet in flight;
// kMaxUrgent urgent traces in kUrgentPause, beyond which further ones are ignored, and at most one
// for each flow.
class PathTracer {
 public:
  static constexpr Nanos kPeriod = 10 * kMinute;
  static constexpr Nanos kTimeout = kSecond;
  static constexpr int kTries = 3;  // packets for one hop limit before the router counts as silent
  static constexpr std::size_t kMaxSilent = 5;  // silent routers in a row that end a trace
  static constexpr int kMaxRepeats = 3;         // appearances of one router that are a loop
  static constexpr std::size_t kMaxActive = 32;
  static constexpr std::size_t kMaxUrgent = 1024;
  static constexpr Nanos kUrgentPause = 30 * kSecond;  // between two urgent traces of one flow

  // The pace outlives this.
  explicit PathTracer(TracePace& pace) : pace_(pace) {}
  PathTracer(const PathTracer&) = delete;
  PathTracer& operator=(const PathTracer&) = delete;
  ~PathTracer() { pace_.setFlows(flows_.size(), 0); }

  // Replaces the flows. Those with a known key keep their turn. Traces in progress are dropped and
  // begin again.
  void setFlows(const std::vector<TracedFlow>& flows);
  // Traces the flow in the place `flow` of the last setFlows() before its turn. Returns false if
  // its trace waits or has begun already, if it was hurried too recently, or if too many were.
  bool traceSoon(std::size_t flow, Nanos now);

  // Gives up packets that were not answered in time, and returns the packet to send at `now`, if
  // any. Call it again until it returns none.
  std::optional<TracePacket> next(Nanos now);
  // A router says that the hop limit of the packet with this nonce ran out. Returns whether there
  // is such a packet in flight.
  bool expired(std::uint64_t nonce, const IpAddress& router, Nanos now);
  // The destination answered the packet with this nonce. Returns as expired() does.
  bool answered(std::uint64_t nonce, Nanos now);
  // The packet with this nonce could not be sent: its trace is dropped without a result.
  void cancel(std::uint64_t nonce);
  // Returns the traces that ended since the last call.
  std::vector<FinishedTrace> takeFinished();

  // When next() may have a packet to send or to give up; kNever without flows.
  Nanos nextWake() const;

 private:
  struct Flow {
    TracedFlow flow;
    Nanos due = 0;
  };
  struct Active {
    TracedFlow flow;
    std::vector<PathHop> hops;
    std::size_t silent = 0;  // silent routers at the end of `hops`
    int tries = 0;           // packets sent with the present hop limit
    bool in_flight = false;
    std::uint64_t nonce = 0;
    Nanos sent = 0;
  };

  Active* inFlight(std::uint64_t nonce);
  void giveUp(Nanos now);
  void noAnswer(Active& trace);
  void finish(Active& trace, PathEnd end, Nanos destination_rtt);
  bool begin(Nanos now);
  void start(const TracedFlow& flow);
  void dropEnded();
  bool isDue(Nanos now);
  TracePacket send(Active& trace, Nanos now);

  TracePace& pace_;
  Nonces nonces_;
  std::vector<Flow> flows_;            // in the order of their turns, beginning at cursor_
  std::vector<std::uint32_t> places_;  // in flows_, by the place in setFlows()
  std::size_t cursor_ = 0;
  std::deque<std::uint32_t> urgent_;           // places in flows_
  std::unordered_set<std::uint64_t> pending_;  // keys of flows that are urgent or active
  bool was_urgent_ = false;                    // the trace that began last
  std::unordered_set<std::uint64_t> hurried_;  // keys of flows that were urgent since hurried_at_
  Nanos hurried_at_ = 0;
  std::vector<Active> active_;
  std::vector<FinishedTrace> finished_;  // at most kMaxActive between two calls of next()
};

}  // namespace pingloom::probe
