#include "probe/udp/flow_tracer.h"

#include <utility>

namespace pingloom::probe::udp {

void FlowTracer::workChanged(const Prober& prober) {
  tracer_.setFlows(flows_.list(prober.tasks(), [&](std::uint32_t task, std::uint32_t) {
    return context_->paths != nullptr && prober.route(task).socket != nullptr;
  }));
}

void FlowTracer::lost(std::uint32_t task, std::uint32_t target, Nanos now) {
  if (const auto place = flows_.placeOf(task, target)) tracer_.traceSoon(*place, now);
}

bool FlowTracer::answered(const Prober& prober, const wire::ProbeMessage& pong, Nanos now) {
  if (!tracer_.answered(pong.nonce, now)) return false;
  publish(prober, now);
  return true;
}

bool FlowTracer::expired(const Prober& prober, const wire::ProbeMessage& quoted,
                         const IpAddress& router, Nanos now) {
  if (!tracer_.expired(quoted.nonce, router, now)) return false;
  publish(prober, now);
  return true;
}

void FlowTracer::elapse(const Prober& prober, Nanos now) {
  while (const auto packet = tracer_.next(now)) post(prober, *packet);
  publish(prober, now);
}

// If the kernel has no room, the packet counts as unanswered and is sent again later.
void FlowTracer::post(const Prober& prober, const TracePacket& packet) {
  const Prober::Route& route = prober.route(packet.task);
  net::SendOptions options = route.options;
  options.timestamp = false;
  options.hop_limit = packet.hop_limit;
  const auto& destinations = prober.tasks().tasks()[packet.task].assignment->destinations;
  const net::Destination to = net::destinationOf(destinations[packet.target], route.port);
  wire::write(tracePing(packet, ClockSource::kKernel, *context_),
              outbox_.add(to.address, to.length, net::makeControl(options, route.socket->isV6()),
                          wire::kPingMinBytes, {}));
  bool failed = false;
  outbox_.flush(*route.socket, *scratch_, [&](net::TxTag, int) { failed = true; });
  outbox_.clear();
  if (failed) tracer_.cancel(packet.nonce);
}

void FlowTracer::publish(const Prober& prober, Nanos now) {
  for (FinishedTrace& trace : tracer_.takeFinished()) {
    const std::uint32_t task = trace.flow.task;
    TracedPath path = tracedPathOf(std::move(trace), prober.tasks().tasks()[task], *context_, now);
    path.source_port = context_->port;
    path.destination_port = prober.route(task).port;
    context_->paths->push(std::move(path));
  }
}

}  // namespace pingloom::probe::udp
