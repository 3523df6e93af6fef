// Simulates an agent: it is the real control client over batches of made-up rows that wait in
// memory. It registers a made-up RDMA endpoint, a different one with every start, and checks the
// endpoint updates that are pushed to it. It does not keep their table: 2,000 tables in one process
// would measure something else.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/batch_source.h"
#include "agent/control_client.h"
#include "common/address.h"
#include "common/time.h"
#include "wire/control_protocol.h"

namespace pingloom::bench {

constexpr const char* kProbeName = "fleet";
constexpr const char* kRdmaProbeName = "fleet-rdma";

// All agents share this.
struct FleetShape {
  std::vector<std::string> controllers;  // HOST:PORT each
  Nanos window = 10 * kSecond;
  std::uint32_t rows = 100;    // per agent and window
  std::string row_bytes;       // Report.rows, serialized
  std::string lost_row_bytes;  // the same, of a window in which every ping was lost
  // The agents look for this address's endpoint in what is pushed to them.
  IpAddress watched;
};

constexpr std::uint32_t kSamples = 10;  // of each row
std::string makeRows(const std::vector<IpAddress>& destinations, std::uint32_t samples);
std::string makeLostRows(const std::vector<IpAddress>& destinations, std::uint32_t samples);
// A serialized wire::Report of an agent's window, with these serialized rows.
std::string reportOf(const FleetShape& shape, const IpAddress& source, std::uint64_t window_index,
                     const std::string& rows);

// Belongs to one thread.
class FleetAgent : private agent::ControlOwner, private agent::BatchSource {
 public:
  FleetAgent(const FleetShape& shape, std::uint32_t number, IpAddress address);

  const IpAddress& address() const { return address_; }
  // Starts as a process does, with a new incarnation and a new connection. Waiting batches are
  // kept.
  Status start(net::ZmqContext& context, Nanos now_mono);
  // Ends as a process that is killed, without a goodbye.
  void kill();
  void run(Nanos now_mono) { client_->run(now_mono); }
  int descriptor() const { return client_->descriptor(); }
  Nanos deadline() const { return client_->deadline(); }

  // `lost`: every ping of the window was lost.
  void closeWindow(std::uint64_t window_index, Nanos now_mono, bool lost = false);
  bool registered() const { return client_->state() == agent::ControlClient::State::kRegistered; }
  std::uint64_t registrations() const { return client_->counters().registrations; }
  std::uint64_t plansTaken() const { return plans_taken_; }
  std::size_t waiting() const { return batches_.size(); }
  std::uint64_t incarnation() const { return incarnation_; }
  std::uint32_t qpn() const;
  // Gives the newest queue pair of the watched address that was pushed to this agent, or 0.
  std::uint32_t watchedQpn() const { return watched_qpn_; }
  std::uint64_t endpointUpdates() const { return endpoint_updates_; }
  std::uint64_t resent() const {
    return resent_ + (client_ ? client_->counters().batches_resent : 0);
  }
  // Gives the nanoseconds from each window's close to its acknowledgement, and forgets them.
  std::vector<Nanos> takeLatencies() { return std::exchange(latencies_, {}); }

 private:
  struct Waiting {
    wire::BatchId id;
    Nanos closed_mono = 0;
    std::uint64_t window_index = 0;
    bool lost = false;
  };

  void planChanged(std::shared_ptr<const plan::Plan> plan) override;
  void clockOffsetChanged(Nanos) override {}
  agent::AgentTotals totals() override;
  std::shared_ptr<const NicPorts> nicCounters() override { return nullptr; }
  std::shared_ptr<const PageOwners> pageOwners() override { return nullptr; }
  std::uint64_t laterIncarnation(std::uint64_t committed) override;
  std::vector<plan::Endpoint> endpoints() override;
  plan::EndpointVersion heldEndpoints() override { return held_; }
  std::vector<IpAddress> rdmaAddresses() override { return {}; }
  Status endpointsPushed(const wire::EndpointUpdate& update) override;
  void burstOrdered(const wire::BurstOrder&) override {}
  void collectorsAuthorized(std::vector<agent::AuthorizedCollector>) override {}
  std::optional<agent::StoredBatch> next(wire::BatchId after) override;
  wire::BatchId newest() const override { return {incarnation_, last_sequence_}; }
  void acknowledge(wire::BatchId up_to) override;

  const FleetShape& shape_;
  std::string host_;
  IpAddress address_;
  std::uint64_t incarnation_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::shared_ptr<const plan::Plan> plan_;
  std::uint64_t plans_taken_ = 0;
  plan::EndpointVersion held_;
  std::uint32_t watched_qpn_ = 0;
  std::uint64_t endpoint_updates_ = 0;
  std::uint64_t resent_ = 0;
  std::deque<Waiting> batches_;
  std::vector<Nanos> latencies_;
  std::unique_ptr<agent::ControlClient> client_;
};

}  // namespace pingloom::bench
