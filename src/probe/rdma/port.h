// One address of this host on RDMA: its device, its UD endpoint, and the prober and responder on
// it. An endpoint that fails is made anew, on its device opened anew, until that works; the agent
// goes on meanwhile. One thread.
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
#include "probe/rdma/prober.h"
#include "probe/rdma/responder.h"
#include "probe/transport.h"
#include "rdma/device.h"

namespace pingloom::probe::rdma_ud {

// What all ports of a transport share; outlives them.
struct PortContext {
  const AgentContext* agent = nullptr;
  Peers peers;
  GuestList guests;
  StallWatch stalls;
  EventLoop* loop = nullptr;
  DropCounts dropped{};
};

class Port {
 public:
  // After a failure the next attempt follows at once; further ones back off from kFirstRetry.
  static constexpr Nanos kFirstRetry = 100 * kMillisecond;
  static constexpr Nanos kMaxRetry = 2 * kSecond;

  // `key`: of its events on the loop.
  Port(PortContext& context, const IpAddress& address, std::uint64_t key);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const IpAddress& address() const { return address_; }
  std::uint64_t key() const { return key_; }
  // Where peers reach it; none while there is no endpoint.
  std::optional<plan::Endpoint> endpoint() const;
  // Whether endpoint() has changed since the last call.
  bool takeChanged() { return std::exchange(changed_, false); }

  void setWork(std::vector<std::shared_ptr<const plan::Assignment>> work, const Instant& now);
  void peersChanged() { prober_->peersChanged(); }
  void flush(const Instant& now) { prober_->flush(now); }

  Prober& prober() { return *prober_; }

  void ready();  // the endpoint has something
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
  rdma::UdEvents events_;
  Nanos drained_mono_ = 0;  // all that had come by then has been handled
  bool behind_ = false;     // more has come than was read in one go
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
