#include "probe/rdma/port_tracer.h"

#include <algorithm>
#include <utility>

#include "probe/rdma/tags.h"
#include "rdma/soft/packet.h"

namespace pingloom::probe::rdma_ud {
void PortTracer::setEndpoint(rdma::UdEndpoint* endpoint) {
  endpoint_ = endpoint;
  tracer_.setFlows({});  // another endpoint may have other source ports, so all is traced again
  changed_ = true;
}

void PortTracer::list(const Prober& prober, Nanos now) {
  changed_ = false;
  listed_ = now;
  tracer_.setFlows(flows_.list(prober.tasks(), [&](std::uint32_t task, std::uint32_t target) {
    const Prober::Target& to = prober.target(task, target);
    return endpoint_ != nullptr && to.there && endpoint_->sourcePort(to.path);
  }));
}

void PortTracer::lost(std::uint32_t task, std::uint32_t target, Nanos now) {
  const auto place = flows_.placeOf(task, target);
  if (endpoint_ != nullptr && place) tracer_.traceSoon(*place, now);
}

bool PortTracer::answered(const Prober& prober, const wire::ProbeMessage& pong, Nanos now) {
  if (endpoint_ == nullptr || !tracer_.answered(pong.nonce, now)) return false;
  publish(prober, now);
  return true;
}

bool PortTracer::expired(const Prober& prober, const rdma::UdExpired& expired, Nanos now) {
  wire::ProbeMessage quoted;
  const auto head = std::span(expired.quoted).first(expired.quoted_bytes);
  if (wire::parseQuoted(head, quoted) != wire::ProbeParseError::kNone || !isTraceId(quoted.id) ||
      !tracer_.expired(quoted.nonce, expired.router, now)) {
    return false;
  }
  publish(prober, now);
  return true;
}

void PortTracer::elapse(const Prober& prober, Nanos now) {
  if (endpoint_ == nullptr) return;
  if (changed_ && now >= listed_ + kListPause) list(prober, now);
  bool posted = false;
  while (const auto packet = tracer_.next(now)) {
    post(prober, *packet);
    posted = true;
  }
  if (posted) endpoint_->flush();
  publish(prober, now);
}

// If the endpoint has no room, the packet counts as unanswered and is sent again later.
void PortTracer::post(const Prober& prober, const TracePacket& packet) {
  const Prober::Target& target = prober.target(packet.task, packet.target);
  wire::ProbeMessage message = tracePing(packet, endpoint_->clock().source(), *context_);
  message.q_key = endpoint_->address().q_key;
  message.answer_label = target.path.flow_label;
  wire::write(message, buffer_);
  rdma::UdPath path = target.path;
  path.hop_limit = packet.hop_limit;
  const bool sent = target.there &&
                    endpoint_->post({path, target.qpn, target.q_key, buffer_,
                                     tagOf(SendKind::kTrace, 0)}) != rdma::PostResult::kUnreachable;
  if (!sent) tracer_.cancel(packet.nonce);
}

void PortTracer::publish(const Prober& prober, Nanos now) {
  for (FinishedTrace& trace : tracer_.takeFinished()) {
    const Task& task = prober.tasks().tasks()[trace.flow.task];
    const Prober::Target& target = prober.target(trace.flow.task, trace.flow.target);
    TracedPath path = tracedPathOf(std::move(trace), task, *context_, now);
    path.destination_port = rdma::soft::kRoceUdpPort;
    path.source_port = endpoint_->sourcePort(target.path).value_or(0);
    context_->paths->push(std::move(path));
  }
}

Nanos PortTracer::nextWake() const {
  if (endpoint_ == nullptr) return kNever;
  return std::min(tracer_.nextWake(), changed_ ? listed_ + kListPause : kNever);
}

}  // namespace pingloom::probe::rdma_ud
