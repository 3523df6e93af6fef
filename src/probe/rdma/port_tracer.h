// Traces the paths of one port's flows: sends PathTracer's packets from the port's endpoint, as
// PINGs of the flow with a small hop limit, and publishes what it finds. One thread.
#pragma once

#include <array>
#include <cstdint>

#include "common/address.h"
#include "probe/path_tracer.h"
#include "probe/rdma/prober.h"
#include "probe/task_flows.h"
#include "rdma/ud_endpoint.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::rdma_ud {

// Nothing is traced while there is no endpoint, to targets that have none, from an address to
// itself, or where the endpoint does not know the source port. The context and the pace outlive
// this.
class PortTracer {
 public:
  // After a change of the mesh's endpoints the flows are listed again at most this often.
  static constexpr Nanos kListPause = kSecond;

  PortTracer(const AgentContext& context, TracePace& pace) : context_(&context), tracer_(pace) {}

  // nullptr if there is none, or nobody wants paths.
  void setEndpoint(rdma::UdEndpoint* endpoint);
  // Called when the prober has other tasks.
  void workChanged(const Prober& prober, Nanos now) { list(prober, now); }
  // Called when a target may have got, changed or lost its endpoint.
  void targetsChanged() { changed_ = true; }
  // A PING to this target was lost, so its path may have changed.
  void lost(std::uint32_t task, std::uint32_t target, Nanos now);

  // Each returns false if nothing in flight fits.
  bool answered(const Prober& prober, const wire::ProbeMessage& pong, Nanos now);
  bool expired(const Prober& prober, const rdma::UdExpired& expired, Nanos now);

  void elapse(const Prober& prober, Nanos now);
  Nanos nextWake() const;

 private:
  void list(const Prober& prober, Nanos now);
  void post(const Prober& prober, const TracePacket& packet);
  void publish(const Prober& prober, Nanos now);

  const AgentContext* context_;
  PathTracer tracer_;
  rdma::UdEndpoint* endpoint_ = nullptr;
  TaskFlows flows_;
  bool changed_ = false;
  Nanos listed_ = 0;
  std::array<std::uint8_t, wire::kPingMinBytes> buffer_{};
};

}  // namespace pingloom::probe::rdma_ud
