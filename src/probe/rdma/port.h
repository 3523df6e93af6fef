// One address of this host on RDMA: its device, its UD endpoint, and their prober and responder.
// When an endpoint fails, the device is reopened and the endpoint replaced, with retries until that
// succeeds; the agent continues meanwhile. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/backoff.h"
#include "plan/endpoint.h"
#include "probe/event_loop.h"
#include "probe/guest_list.h"
#include "probe/rdma/port_tracer.h"
#include "probe/rdma/prober.h"
#include "probe/rdma/responder.h"
#include "probe/transport.h"
#include "rdma/device.h"

namespace pingloom::probe::rdma_ud {

// Shared by all ports of a transport, and outlives them.
struct PortContext {
  explicit PortContext(const AgentContext& context)
      : agent(&context), trace_pace(context.trace_budget) {}

  const AgentContext* agent;
  Peers peers;
  GuestList guests;
  StallWatch stalls;
  TracePace trace_pace;
  EventLoop* loop = nullptr;
  DropCounts dropped{};
};

class Port {
 public:
  // After a failure the next attempt follows at once; further ones back off from kFirstRetry.
  static constexpr Nanos kFirstRetry = 100 * kMillisecond;
  static constexpr Nanos kMaxRetry = 800 * kMillisecond;

  // The loop watches the endpoint with `key`.
  Port(PortContext& context, const IpAddress& address, std::uint64_t key);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const IpAddress& address() const { return address_; }
  std::uint64_t key() const { return key_; }
  // The address at which peers reach the endpoint; nullopt while there is no endpoint.
  std::optional<plan::Endpoint> endpoint() const;
  // Whether endpoint() has changed since the last call.
  bool takeChanged() { return std::exchange(changed_, false); }

  void setWork(std::vector<std::shared_ptr<const plan::Assignment>> work, const Instant& now);
  void peersChanged();
  void flush(const Instant& now);

  Prober& prober() { return *prober_; }

  // Called when the endpoint's descriptor is ready.
  void ready();
  void elapse(const Instant& now);
  Nanos nextWake(Nanos now) const;
  void addTo(TransportCounters& counters);

 private:
  static constexpr int kMaxRounds = 16;

  void open(const Instant& now);
  Status tryOpen(const Instant& now);
  void use(const rdma::DeviceInfo& info, const Instant& now);
  void fail(const Error& error);
  bool poll();
  void handle(const Instant& now);
  void received(const rdma::UdReceived& packet, const Instant& now);
  void ping(const wire::ProbeMessage& message, const rdma::UdReceived& packet,
            const IpAddress& from, const Instant& now);
  std::unique_ptr<Prober> makeProber();
  void drop(DropReason reason) { count(reason, context_->dropped); }

  PortContext* context_;
  IpAddress address_;
  std::uint64_t key_;
  std::vector<std::shared_ptr<const plan::Assignment>> work_;
  Origin origin_;
  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<rdma::UdEndpoint> endpoint_;
  std::unique_ptr<Prober> prober_;
  std::unique_ptr<Responder> responder_;
  PortTracer tracer_;
  rdma::UdEvents events_;
  Nanos drained_mono_ = 0;  // everything that arrived by then has been handled
  bool behind_ = false;     // more packets wait than one wake-up reads
  Nanos retry_at_ = 0;
  Backoff backoff_{kFirstRetry, kMaxRetry};
  Nanos opened_mono_ = 0;
  std::string last_error_;
  bool changed_ = false;
  std::vector<rdma::DropCount> dropped_before_;  // by endpoints that are gone
  std::uint64_t endpoints_lost_ = 0;
  std::uint64_t answered_before_ = 0;  // by responders on endpoints that are gone
  std::uint64_t sent_before_ = 0;      // by probers on other devices
  std::uint64_t skipped_before_ = 0;
};

}  // namespace pingloom::probe::rdma_ud
