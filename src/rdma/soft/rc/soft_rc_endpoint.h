// An RC endpoint of a soft device. It connects a requester and a responder with the device's
// sockets. It follows the contract of RcEndpoint and runs on the device's thread.
//
// Packets from any address but the connected peer's are dropped. A fatal refusal of a peer's
// request fails this side as well, as with any RC queue pair; the endpoint repeats the refusal when
// the request is repeated, as long as it is polled. A link that is down for a while is bridged by
// retries; an address that is gone, or an MTU below the connection's, fails the endpoint.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "rdma/rc_endpoint.h"
#include "rdma/soft/drops.h"
#include "rdma/soft/packet_sink.h"
#include "rdma/soft/rc/answer_budget.h"
#include "rdma/soft/rc/memory_table.h"
#include "rdma/soft/rc/rc_drops.h"
#include "rdma/soft/rc/receive_share.h"
#include "rdma/soft/rc/requester.h"
#include "rdma/soft/rc/responder.h"
#include "rdma/soft/soft_port.h"

namespace pingloom::rdma::soft {

class SoftRcEndpoint final : public RcEndpoint, private PacketSink {
 public:
  // REQUIRES: all three outlive the endpoint; the device has checked the options and set the MTU.
  static Result<std::unique_ptr<RcEndpoint>> create(SoftPort& port, const MemoryTable& memory,
                                                    ReceiveShare& share, const RcOptions& options);
  ~SoftRcEndpoint() override;
  SoftRcEndpoint(const SoftRcEndpoint&) = delete;
  SoftRcEndpoint& operator=(const SoftRcEndpoint&) = delete;

  const RcAddress& address() const override { return address_; }
  RcState state() const override { return state_; }
  Status connect(const RcAddress& peer) override;
  void peerProved() override;
  PostResult post(const RcRequest& request) override;
  void flush() override;
  int descriptor() const override { return descriptor_.get(); }
  Status poll(RcEvents& events) override;
  Nanos nextWake() const override;
  // Includes the drops of the device and of packets to this endpoint.
  std::vector<DropCount> drops() const override;

 private:
  SoftRcEndpoint(SoftPort& port, const MemoryTable& memory, ReceiveShare& share,
                 const RcOptions& options);
  std::string entity() const;
  void received(const Inbound& inbound) override;
  void announced(const Reth& write) override;
  void departed(std::uint32_t, Nanos) override {}  // its packets have no owner
  void failed(std::uint32_t) override {}
  void pump(Nanos now_mono);
  bool next(Packet& packet, Nanos now_mono);
  std::size_t ipBytes(const Packet& packet) const;
  void send(Packet& packet);
  void noticeFailure();
  void noticeInterface();
  bool hasInterface() const;

  SoftPort& port_;
  const MemoryTable& memory_;
  ReceiveShare& share_;
  RcOptions options_;
  SinkTable::Place place_{};
  UniqueFd descriptor_;
  RcAddress address_;
  RcAddress peer_;
  Route route_;
  std::uint32_t mtu_ = 0;  // the path MTU
  RcState state_ = RcState::kNew;
  std::string_view why_failed_;
  DropCounters drops_;
  RcDropCounters rc_drops_;
  AnswerBudget budget_;
  std::optional<Requester> requester_;  // both are set by connect()
  std::optional<Responder> responder_;
  bool has_work_ = false;  // packets arrived, or pump() left some to send
};

}  // namespace pingloom::rdma::soft
