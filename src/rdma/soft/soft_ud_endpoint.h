// A UD endpoint of a soft device. It follows the contract of UdEndpoint and runs on the device's
// thread. It fails when the interface loses its address or its link, or changes its MTU, so that
// its owner makes another one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "rdma/soft/drops.h"
#include "rdma/soft/in_flight.h"
#include "rdma/soft/packet_sink.h"
#include "rdma/soft/receive_queue.h"
#include "rdma/soft/soft_port.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

class SoftUdEndpoint final : public UdEndpoint, private PacketSink {
 public:
  // REQUIRES: `port` outlives the endpoint, and the MTU is at most the port's.
  static Result<std::unique_ptr<UdEndpoint>> create(SoftPort& port, std::uint32_t mtu,
                                                    std::uint32_t q_key, std::uint32_t flow_label);
  ~SoftUdEndpoint() override;
  SoftUdEndpoint(const SoftUdEndpoint&) = delete;
  SoftUdEndpoint& operator=(const SoftUdEndpoint&) = delete;

  const UdAddress& address() const override { return address_; }
  const TickClock& clock() const override { return clock_; }
  std::size_t maxPayload() const override { return mtu_; }
  void prepare(const UdPath&) override {}
  void recheck(const UdPath&) override {}
  std::optional<std::uint16_t> sourcePort(const UdPath& path) const override {
    return port_.transmitter().sockets().portOf(labelOf(path));
  }
  PostResult post(const UdMessage& message) override;
  void flush() override;
  int descriptor() const override { return descriptor_.get(); }
  Status poll(UdEvents& events) override;
  Nanos nextWake() const override;
  // Includes the drops of the device and of packets to this endpoint.
  std::vector<DropCount> drops() const override { return port_.drops().plus(drops_); }

  // Messages that came back, kept until the next poll(). Further ones are dropped as `icmp_error`.
  static constexpr std::size_t kMaxExpired = 256;

 private:
  SoftUdEndpoint(SoftPort& port, std::uint32_t mtu, std::uint32_t q_key, std::uint32_t flow_label);
  bool isLost() const;
  std::string fault() const;  // why it is lost
  bool canReach(const IpAddress& address) const;
  std::uint32_t labelOf(const UdPath& path) const {
    return path.flow_label != 0 ? path.flow_label : flow_label_;
  }
  void received(const Inbound& inbound) override;
  void departed(std::uint32_t id, Nanos utc) override;
  void failed(std::uint32_t id) override;
  void expired(const UdExpired& how) override;

  SoftPort& port_;
  std::size_t mtu_;
  std::uint32_t link_mtu_;  // the interface's when this was made
  std::uint32_t flow_label_;
  SinkTable::Place place_{};
  UniqueFd descriptor_;
  UdAddress address_;
  TickClock clock_ = TickClock::nanoseconds(ClockSource::kKernel);
  DropCounters drops_;
  std::uint32_t psn_;
  InFlight in_flight_;
  ReceiveQueue queue_;
  std::vector<UdSent> sent_;        // for the next poll(); bounded by in_flight_
  std::vector<UdExpired> expired_;  // likewise; at most kMaxExpired
};

}  // namespace pingloom::rdma::soft
