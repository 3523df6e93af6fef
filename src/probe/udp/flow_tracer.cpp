#include "probe/udp/flow_tracer.h"

#include <cstring>
#include <utility>

#include "probe/task_flows.h"

namespace pingloom::probe::udp {

// A burst's task is left out, because its pair is in another task too.
void FlowTracer::workChanged(const Prober& prober) {
  std::vector<TracedFlow> flows;
  const auto& tasks = prober.tasks().tasks();
  places_.assign(tasks.size() - (prober.tasks().hasBurst() ? 1 : 0), {});
  for (std::uint32_t t = 0; t < places_.size() && context_->paths != nullptr; ++t) {
    const auto& assignment = *tasks[t].assignment;
    places_[t].assign(assignment.destinations.size(), kNone);
    if (!prober.wayOf(t)) continue;
    for (std::uint32_t i = 0; i < assignment.destinations.size(); ++i) {
      if (assignment.destinations[i] == assignment.source) continue;
      places_[t][i] = static_cast<std::uint32_t>(flows.size());
      flows.push_back({t, i, flowKeyOf(tasks[t], assignment.destinations[i])});
    }
  }
  tracer_.setFlows(flows);
}

void FlowTracer::lost(std::uint32_t task, std::uint32_t target, Nanos now) {
  if (task >= places_.size() || target >= places_[task].size()) return;
  if (places_[task][target] != kNone) tracer_.traceSoon(places_[task][target], now);
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
  const auto way = prober.wayOf(packet.task);
  if (!way) {
    tracer_.cancel(packet.nonce);
    return;
  }
  net::SendOptions options = way->options;
  options.timestamp = false;
  options.hop_limit = packet.hop_limit;
  const auto& destinations = prober.tasks().tasks()[packet.task].assignment->destinations;
  sockaddr_storage address;
  const socklen_t length = destinations[packet.target].toSockaddr(way->port, address);
  sockaddr_in6 to;
  std::memcpy(&to, &address, sizeof to);
  wire::ProbeMessage message;
  message.type = wire::ProbeType::kPing;
  message.clock = static_cast<std::uint8_t>(ClockSource::kKernel);
  message.length = wire::kPingMinBytes;
  message.id = std::uint32_t{packet.hop_limit} << ExchangeTable::kSlotBits;
  message.nonce = packet.nonce;
  message.incarnation = context_->incarnation;
  wire::write(message, outbox_.add(to, length, net::makeControl(options, way->socket->isV6()),
                                   message.length, {}));
  bool failed = false;
  outbox_.flush(*way->socket, *scratch_, [&](net::TxTag, int) { failed = true; });
  outbox_.clear();
  if (failed) tracer_.cancel(packet.nonce);
}

void FlowTracer::publish(const Prober& prober, Nanos now) {
  for (FinishedTrace& trace : tracer_.takeFinished()) {
    const Task& task = prober.tasks().tasks()[trace.flow.task];
    context_->paths->push(
        tracedPathOf(std::move(trace), task, task.assignment->source, context_->clock->utc(now)));
  }
}

}  // namespace pingloom::probe::udp
