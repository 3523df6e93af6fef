#include "agent/burst_runner.h"

#include <algorithm>
#include <utility>

#include "wire/burst_codec.h"

namespace pingloom::agent {

BurstRunner::BurstRunner(const WorkList& work, const Transports& transports, Send send)
    : work_(work), transports_(transports), send_(std::move(send)) {}

probe::Transport* BurstRunner::transportOf(Protocol protocol) const {
  for (const auto& transport : transports_) {
    if (transport->protocol() == protocol) return transport.get();
  }
  return nullptr;
}

// The order comes from the network, so it may name only pairs of the plan in force.
Result<std::shared_ptr<const probe::Burst>> BurstRunner::burstFor(
    const wire::BurstOrder& order) const {
  if (transport_ != nullptr) return makeError("agent", "it is still busy with another burst");
  if (order.count() == 0 || order.count() > kMaxBurstPings ||
      order.interval_ns() < kMinBurstInterval || order.interval_ns() > kMaxBurstInterval) {
    return makeError("agent", "count or interval out of range");
  }
  const auto source = IpAddress::fromWire(order.source());
  const auto destination = IpAddress::fromWire(order.destination());
  if (!source || !destination) return makeError("agent", "not an address");
  const auto assignment = work_.find(order.probe(), *source, *destination);
  if (assignment == nullptr) {
    return makeError("agent", "the pair is not in the plan that it holds");
  }
  const std::uint32_t paths = assignment->probe.paths > 1 ? assignment->probe.paths : 0;
  if (order.path() > paths || (order.path() == 0 && paths > 0)) {
    return makeError("agent", "the probe has no such path in the plan that it holds");
  }
  if (transportOf(assignment->probe.protocol) == nullptr) {
    return makeError("agent", "it has no transport for this protocol");
  }
  return probe::makeBurst(*assignment, *destination, order.path(), order.count(),
                          order.interval_ns());
}

void BurstRunner::start(const wire::BurstOrder& order, Nanos now) {
  const auto burst = burstFor(order);
  if (!burst) {
    wire::BurstReport report;
    report.set_id(order.id());
    report.set_finished(true);
    report.set_refused(burst.error().text());
    send_(report);
    return;
  }
  const plan::ProbeSpec& probe = (*burst)->assignment->probe;
  id_ = order.id();
  count_ = order.count();
  reported_.assign(count_, false);
  report_due_ = now + kReportEvery;
  deadline_ = now + order.interval_ns() * (order.count() - 1) + probe.timeout + kSlack;
  transport_ = transportOf(probe.protocol);
  transport_->startBurst(*burst);
}

void BurstRunner::run(Nanos now) {
  if (now < due()) return;
  report_due_ = now + kReportEvery;
  const std::vector<BurstPing> pings = transport_->burstPings();
  wire::BurstReport report;
  report.set_id(id_);
  report.set_finished(pings.size() == count_ || now >= deadline_);
  for (const BurstPing& ping : pings) {
    // The last report has all pings: an earlier report may have been lost with its connection.
    const bool known = reported_[ping.sequence - 1];
    reported_[ping.sequence - 1] = true;
    if (known && !report.finished()) continue;
    wire::encode(ping, *report.add_pings());
  }
  if (report.finished()) {
    // The last report is retried until the controller has stopped waiting for it.
    if (!send_(report) && now < deadline_ + kSlack) return;
    std::exchange(transport_, nullptr)->endBurst();
  } else if (report.pings_size() > 0) {
    send_(report);
  }
}

}  // namespace pingloom::agent
