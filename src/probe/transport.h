// A transport measures with one protocol: it probes the targets it is given, answers other hosts'
// probes, and closes windows. Each has a thread of its own, which alone touches its state; the
// functions here may be called from the agent's control thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/distribution.h"
#include "common/error.h"
#include "common/vocabulary.h"
#include "plan/endpoint.h"
#include "plan/plan.h"
#include "probe/burst.h"
#include "probe/drop_reason.h"
#include "probe/endpoint_board.h"
#include "probe/window_clock.h"
#include "probe/window_queue.h"
#include "rdma/device.h"

namespace pingloom::probe {

// What a transport is to do: replaces what it did before. Pairs that stay keep their open windows
// and phases.
struct Work {
  std::vector<std::shared_ptr<const plan::Assignment>> assignments;  // of its protocol only
  std::shared_ptr<const plan::AddressList> known_sources;  // sorted; others are rate-limited
  plan::AddressList own =
      {};  // this host's addresses that probes of its protocol name, either side
};

// Counters since the start; a copy taken at one moment.
struct TransportCounters {
  std::uint64_t pings_sent = 0;
  std::uint64_t pings_skipped =
      0;  // not sent because a whole interval was missed, or a limit was reached
  std::uint64_t pings_answered = 0;  // as responder
  std::uint64_t stalls = 0;
  DropCounts dropped{};
  std::vector<rdma::DropCount> endpoint_dropped;  // RDMA: by the endpoints themselves
  std::uint64_t endpoints_lost = 0;               // RDMA: failed, to be made anew
  Distribution send_lateness;  // from when pings were due, ns; since the last call
};

// What all transports of one agent share. Outlives them.
struct AgentContext {
  std::vector<IpAddress> listen;  // addresses to bind; empty: all of the host's
  std::uint16_t port = 0;         // UDP and TCP
  std::uint32_t incarnation = 0;  // low 32 bits
  std::uint64_t phase_seed = 0;   // from the host's name: where in the interval it starts
  const WindowClock* clock = nullptr;
  WindowQueue* windows = nullptr;
  // RDMA: opens the device that the configuration means for this address of the host.
  std::function<Result<std::unique_ptr<rdma::Device>>(const IpAddress&)> open_device = {};
  rdma::UdOptions rdma = {};
  // RDMA: where its transport publishes the endpoints that others ask the UDP transport for.
  EndpointBoard* endpoint_board = nullptr;
  // A transport's endpoints() are other ones now. Called from its thread; must not wait.
  std::function<void()> endpoints_changed = [] {};
};

class Transport {
 public:
  virtual ~Transport() = default;  // stops the thread; open windows are dropped
  virtual Protocol protocol() const = 0;
  virtual void setWork(Work work) = 0;
  // RDMA: where the mesh's endpoints are, this agent's own among them; pings to targets that are
  // not in it count as unreachable. Before the first call nothing is known and nothing counted.
  virtual void setEndpoints(const std::shared_ptr<const plan::EndpointTable>& /*endpoints*/) {}
  // RDMA: what this agent has to register.
  virtual std::vector<plan::Endpoint> endpoints() { return {}; }
  // Probes one pair at once, beside the work, on the same sockets and endpoints, and counts that in
  // no window. One at a time: another one ends that before it. REQUIRES: its assignment is one of
  // the work's but for targets, interval and window.
  virtual void startBurst(const std::shared_ptr<const Burst>& burst) = 0;
  // Those of its pings that have their verdict.
  virtual std::vector<BurstPing> burstPings() = 0;
  virtual void endBurst() = 0;
  // Closes what is open as it stands and stops probing (not responding). For an orderly end.
  virtual void flush() = 0;
  virtual TransportCounters counters() = 0;
};

// One line per transport: this is where a new one joins. Binds sockets and starts the threads.
Result<std::vector<std::unique_ptr<Transport>>> makeTransports(const AgentContext& context);

}  // namespace pingloom::probe
