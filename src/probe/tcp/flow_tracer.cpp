#include "probe/tcp/flow_tracer.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/traced_path.h"
#include "probe/tcp/connect_socket.h"

namespace pingloom::probe::tcp {
namespace {

// What the error queue of a connect says.
struct Errors {
  std::optional<IpAddress> sender;      // of an ICMP message
  std::optional<IpAddress> expired_at;  // the router where the hop limit ran out
};

// The kernel has checked that the message quotes this connect's ports and sequence number.
Errors readErrors(int socket, net::RxBatch& batch) {
  Errors errors;
  const int got = batch.receive(socket, MSG_ERRQUEUE);
  for (int i = 0; i < got; ++i) {
    const net::Ancillary about = batch.ancillary(static_cast<std::size_t>(i));
    if (about.is_icmp) errors.sender = about.icmp_sender;
    if (about.expired) errors.expired_at = about.icmp_sender;
  }
  return errors;
}

}  // namespace

void FlowTracer::workChanged() {
  syns_.clear();
  ports_.clear();
  tracer_.setFlows(flows_.list(
      prober_.tasks(), [&](std::uint32_t, std::uint32_t) { return context_.paths != nullptr; }));
}

void FlowTracer::silent(std::uint32_t task, std::uint32_t target, std::uint16_t port, Nanos now) {
  const auto place = flows_.placeOf(task, target);
  if (!place || !tracer_.traceSoon(*place, now)) return;
  ports_[numberOf(task, target)] = port;
}

void FlowTracer::onReady(std::uint64_t key, Nanos now) {
  const auto found =
      std::find_if(syns_.begin(), syns_.end(), [&](const Syn& syn) { return syn.key == key; });
  if (found == syns_.end()) return;
  const Syn syn = std::move(*found);
  syns_.erase(found);
  const Errors errors = readErrors(syn.socket.get(), errors_);
  if (errors.expired_at) {
    tracer_.expired(syn.nonce, *errors.expired_at, now);
  } else if (errors.sender) {
    // A firewall has refused the connect, either the destination's or one on the way.
    if (*errors.sender == syn.target) tracer_.answered(syn.nonce, now);
  } else {
    const ConnectStage stage = inspectConnect(syn.socket.get()).stage;
    const bool answered = stage == ConnectStage::kConnected || stage == ConnectStage::kRefused;
    if (answered) tracer_.answered(syn.nonce, now);
  }
  // Whatever else has happened counts as silence when the tracer's timeout is over.
  publish(now);
}

void FlowTracer::elapse(Nanos now) {
  // The tracer gives these up, and the next packets need their port.
  std::erase_if(syns_, [&](const Syn& syn) { return now - syn.sent >= PathTracer::kTimeout; });
  while (const auto packet = tracer_.next(now)) {
    if (post(*packet, now)) continue;
    tracer_.cancel(packet->nonce);
    ports_.erase(numberOf(packet->task, packet->target));
  }
  publish(now);
}

bool FlowTracer::post(const TracePacket& packet, Nanos now) {
  const plan::Assignment& assignment = *prober_.tasks().tasks()[packet.task].assignment;
  const SocketAddress target = prober_.targetOf(packet.task, packet.target);
  std::uint16_t& port = ports_[numberOf(packet.task, packet.target)];
  ConnectOptions options{assignment.probe.traffic_class, port, packet.hop_limit};
  ConnectStart started = startConnect(assignment.source, target, options);
  if (!started.socket.valid() && port != 0 && packet.hop_limit == 1) {
    // Another program has taken the port of the silent connect.
    options.source_port = port = 0;
    started = startConnect(assignment.source, target, options);
  }
  if (!started.socket.valid()) return false;
  if (port == 0) port = sourcePortOf(started.socket.get());
  if (next_key_ == kEndOfKeys) next_key_ = kFirstKey;
  Syn syn{std::move(started.socket), next_key_++, packet.nonce, target.address, now};
  if (!loop_.watch(syn.socket.get(), EPOLLOUT, syn.key)) return false;
  syns_.push_back(std::move(syn));
  return true;
}

void FlowTracer::publish(Nanos now) {
  for (FinishedTrace& trace : tracer_.takeFinished()) {
    const TracedFlow flow = trace.flow;
    TracedPath path =
        tracedPathOf(std::move(trace), prober_.tasks().tasks()[flow.task], context_, now);
    const auto port = ports_.find(numberOf(flow.task, flow.target));
    if (port == ports_.end()) continue;
    path.one_connection = true;
    path.source_port = port->second;
    path.destination_port = prober_.targetOf(flow.task, flow.target).port;
    ports_.erase(port);
    context_.paths->push(std::move(path));
  }
}

}  // namespace pingloom::probe::tcp
