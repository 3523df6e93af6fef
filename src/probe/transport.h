// A transport measures with one protocol: it probes its targets, answers other hosts' probes, and
// closes windows. Each transport has a thread, and only that thread touches its state. The agent's
// control thread calls the functions declared here.
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
#include "probe/guest_list.h"
#include "probe/path_queue.h"
#include "probe/ping_listener.h"
#include "probe/trace_pace.h"
#include "probe/window_clock.h"
#include "probe/window_queue.h"
#include "rdma/device.h"

namespace pingloom::probe {

// The work of a transport; it replaces the previous work. Pairs that stay keep their open windows
// and phases.
struct Work {
  // Assignments of the transport's protocol only.
  std::vector<std::shared_ptr<const plan::Assignment>> assignments;
  // The sources that the plan names, with what it lets them send to this host by this protocol.
  std::shared_ptr<const Guests> known_sources;
  // Addresses of this host that probes of this protocol have as a source or a target.
  plan::AddressList own = {};
};

// A copy of a transport's counters. They count from the start, unless a line says otherwise.
struct TransportCounters {
  std::uint64_t pings_sent = 0;
  // Pings that were not sent because a whole interval was missed or a limit was reached.
  std::uint64_t pings_skipped = 0;
  // PINGs of other hosts that were answered.
  std::uint64_t pings_answered = 0;
  std::uint64_t stalls = 0;
  DropCounts dropped{};
  // Packets that the RDMA endpoints themselves have dropped.
  std::vector<rdma::DropCount> endpoint_dropped;
  // RDMA endpoints that have failed and were replaced.
  std::uint64_t endpoints_lost = 0;
  // Difference between due time and departure in ns, since the last call.
  Distribution send_lateness;
};

// Shared by all transports of one agent, and outlives them.
struct AgentContext {
  std::vector<IpAddress> listen;  // addresses to bind; empty means all of the host's
  // UDP and TCP both use it.
  std::uint16_t port = 0;
  std::uint32_t incarnation = 0;  // its low 32 bits
  std::uint64_t phase_seed = 0;   // derived from the host's name; sets the phase in the interval
  const WindowClock* clock = nullptr;
  WindowQueue* windows = nullptr;
  PathQueue* paths = nullptr;  // nullptr if paths are not traced
  std::shared_ptr<TraceBudget> trace_budget = std::make_shared<TraceBudget>();
  // Opens the RDMA device that the configuration selects for this address of the host.
  std::function<Result<std::unique_ptr<rdma::Device>>(const IpAddress&)> open_device = {};
  rdma::UdOptions rdma = {};
  // The RDMA transport publishes its endpoints here, and the UDP transport answers queries for
  // them.
  EndpointBoard* endpoint_board = nullptr;
  // The pings belong to no plan and are waited for, so their PINGs are neither counted nor is an
  // ACK deferred.
  bool one_off = false;
  // Hears of pings that go wrong; nullptr if nobody listens.
  PingListener* listener = nullptr;
  // Called from a transport's thread when its endpoints() have changed. It must not wait.
  std::function<void()> endpoints_changed = [] {};
};

class Transport {
 public:
  // Stops the thread. Open windows are dropped.
  virtual ~Transport() = default;
  virtual Protocol protocol() const = 0;
  virtual void setWork(Work work) = 0;
  // Tells the RDMA transport the endpoints of the mesh, which include this agent's own. Pings to
  // targets that are not among them count as unreachable. Before the first call all pings are
  // skipped.
  virtual void setEndpoints(const std::shared_ptr<const plan::EndpointTable>& /*endpoints*/) {}
  // The RDMA endpoints that this agent has to register.
  virtual std::vector<plan::Endpoint> endpoints() { return {}; }
  // Probes one pair at once, in addition to the work and from the same sockets and endpoints,
  // without counting it in a window. A new burst ends the previous one. REQUIRES: its assignment is
  // one of the work's, except for targets, interval and window.
  virtual void startBurst(const std::shared_ptr<const Burst>& burst) = 0;
  // The burst's pings that have a verdict.
  virtual std::vector<BurstPing> burstPings() = 0;
  virtual void endBurst() = 0;
  // Closes all windows as they are and stops probing, but not answering. Called before an orderly
  // end.
  virtual void flush() = 0;
  virtual TransportCounters counters() = 0;
};

// Makes all transports, binds their sockets and starts their threads. A new transport adds one
// line.
Result<std::vector<std::unique_ptr<Transport>>> makeTransports(const AgentContext& context);

}  // namespace pingloom::probe
