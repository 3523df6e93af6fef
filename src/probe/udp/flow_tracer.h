// Traces the paths of the UDP transport's flows: sends PathTracer's packets from the sockets of the
// PINGs, as PINGs with a small hop limit, and publishes what it finds. One thread.
#pragma once

#include <cstdint>

#include "net/outbox.h"
#include "net/rx_batch.h"
#include "probe/path_tracer.h"
#include "probe/task_flows.h"
#include "probe/transport.h"
#include "probe/udp/prober.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::udp {

// Nothing is traced without AgentContext::paths, nor from an address to itself. Context and scratch
// batch outlive this.
class FlowTracer {
 public:
  FlowTracer(const AgentContext& context, net::RxBatch& scratch)
      : context_(&context),
        scratch_(&scratch),
        pace_(context.trace_budget),
        tracer_(pace_),
        outbox_(wire::kPingMinBytes) {}

  // Called when the prober has other tasks.
  void workChanged(const Prober& prober);
  // A PING to this target was lost, so its path may have changed.
  void lost(std::uint32_t task, std::uint32_t target, Nanos now);

  // Each returns false if nothing in flight fits.
  bool answered(const Prober& prober, const wire::ProbeMessage& pong, Nanos now);
  bool expired(const Prober& prober, const wire::ProbeMessage& quoted, const IpAddress& router,
               Nanos now);

  void elapse(const Prober& prober, Nanos now);
  Nanos nextWake() const { return tracer_.nextWake(); }

 private:
  void post(const Prober& prober, const TracePacket& packet);
  void publish(const Prober& prober, Nanos now);

  const AgentContext* context_;
  net::RxBatch* scratch_;
  TracePace pace_;
  PathTracer tracer_;
  net::Outbox outbox_;
  TaskFlows flows_;
};

}  // namespace pingloom::probe::udp
