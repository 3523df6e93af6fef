#include "fleet_agent.h"

#include <algorithm>
#include <utility>

#include "agent/report.h"
#include "control.pb.h"
#include "wire/distribution_codec.h"

namespace pingloom::bench {
namespace {

Distribution around(std::uint64_t center, std::uint32_t samples) {
  Distribution made;
  for (std::uint32_t i = 0; i < samples; ++i) made.add(center + 137 * i);
  return made;
}

}  // namespace

std::string makeRows(const std::vector<IpAddress>& destinations, std::uint32_t samples) {
  wire::Report report;
  for (const IpAddress& destination : destinations) {
    wire::Row& row = *report.add_rows();
    row.set_destination(destination.wire());
    row.set_sent(samples);
    row.set_received(samples);
    wire::encode(around(12'000, samples), *row.mutable_network());
    wire::encode(around(25'000, samples), *row.mutable_responder());
    wire::encode(around(18'000, samples), *row.mutable_prober());
    wire::encode(around(55'000, samples), *row.mutable_rtt());
    row.set_jitter_ns(137);
  }
  return report.SerializeAsString();
}

std::string makeLostRows(const std::vector<IpAddress>& destinations, std::uint32_t samples) {
  wire::Report report;
  for (const IpAddress& destination : destinations) {
    wire::Row& row = *report.add_rows();
    row.set_destination(destination.wire());
    row.set_sent(samples);
    row.set_lost(samples);
  }
  return report.SerializeAsString();
}

// Fields of a message may come in parts: the rows are the same bytes for every agent.
std::string reportOf(const FleetShape& shape, const IpAddress& source, std::uint64_t window_index,
                     const std::string& rows) {
  wire::Report head;
  head.set_probe(kProbeName);
  head.set_source(source.wire());
  head.set_protocol(wire::UDP);
  head.set_window_index(window_index);
  head.set_window_ns(shape.window);
  head.set_clock(2);
  return head.SerializeAsString() + rows;
}

FleetAgent::FleetAgent(const FleetShape& shape, std::uint32_t number, IpAddress address)
    : shape_(shape), host_("fleet-" + std::to_string(number)), address_(address) {}

Status FleetAgent::start(net::ZmqContext& context, Nanos now_mono) {
  incarnation_ = std::max(incarnation_ + 1, static_cast<std::uint64_t>(utcNow()));
  last_sequence_ = 0;
  agent::ControlOptions options;
  options.controllers = shape_.controllers;
  options.host = host_;
  options.incarnation = incarnation_;
  options.addresses = {address_};
  options.port = 20710;
  options.software_version = "fleet";
  client_ = std::make_unique<agent::ControlClient>(context, std::move(options),
                                                   static_cast<agent::BatchSource&>(*this),
                                                   static_cast<agent::ControlOwner&>(*this));
  return client_->start(now_mono, plan_);
}

void FleetAgent::kill() {
  resent_ += client_->counters().batches_resent;
  client_.reset();
}

void FleetAgent::closeWindow(std::uint64_t window_index, Nanos now_mono, bool lost) {
  batches_.push_back({{incarnation_, ++last_sequence_}, now_mono, window_index, lost});
}

void FleetAgent::planChanged(std::shared_ptr<const plan::Plan> plan) {
  plan_ = std::move(plan);
  ++plans_taken_;
}

agent::AgentTotals FleetAgent::totals() {
  agent::AgentTotals totals;
  totals.spooled_batches = batches_.size();
  return totals;
}

std::uint64_t FleetAgent::laterIncarnation(std::uint64_t committed) {
  incarnation_ = committed + 1;
  last_sequence_ = 0;
  return incarnation_;
}

std::uint32_t FleetAgent::qpn() const {
  return 2 + static_cast<std::uint32_t>(incarnation_ % 0xfffff0);
}

std::vector<plan::Endpoint> FleetAgent::endpoints() {
  plan::Endpoint endpoint;
  endpoint.address = address_;
  endpoint.gid[10] = endpoint.gid[11] = 0xff;
  std::copy_n(address_.bytes().begin(), 4, endpoint.gid.begin() + 12);
  endpoint.qpn = qpn();
  endpoint.q_key = 0x11111111;
  endpoint.device = "mlx5_0";
  endpoint.clock = ClockSource::kHardware;
  return {endpoint};
}

Status FleetAgent::endpointsPushed(const wire::EndpointUpdate& update) {
  const bool fits =
      held_.controller == update.controller() && held_.number == update.base_version();
  if (update.base_version() != 0 && !fits) {
    return makeError("endpoint update", "starts from a table that is not held here");
  }
  held_ = {update.controller(), update.version(), update.scope()};
  ++endpoint_updates_;
  const std::string watched = shape_.watched.wire();
  for (const wire::Endpoint& endpoint : update.changed()) {
    if (endpoint.address() == watched) watched_qpn_ = endpoint.qpn();
  }
  return {};
}

std::optional<agent::StoredBatch> FleetAgent::next(wire::BatchId after) {
  const auto found =
      std::upper_bound(batches_.begin(), batches_.end(), after,
                       [](wire::BatchId id, const Waiting& waiting) { return id < waiting.id; });
  if (found == batches_.end()) return std::nullopt;
  const std::string report = reportOf(shape_, address_, found->window_index,
                                      found->lost ? shape_.lost_row_bytes : shape_.row_bytes);
  std::string reports(1, static_cast<char>((wire::Batch::kReportsFieldNumber << 3) | 2));
  std::size_t length = report.size();
  for (; length >= 0x80; length >>= 7) reports += static_cast<char>((length & 0x7f) | 0x80);
  reports += static_cast<char>(length);
  return agent::StoredBatch{found->id, agent::serializeBatch(found->id, reports + report)};
}

void FleetAgent::acknowledge(wire::BatchId up_to) {
  const Nanos now = monotonicNow();
  while (!batches_.empty() && batches_.front().id <= up_to) {
    latencies_.push_back(now - batches_.front().closed_mono);
    batches_.pop_front();
  }
}

}  // namespace pingloom::bench
