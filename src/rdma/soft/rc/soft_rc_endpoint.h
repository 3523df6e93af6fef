// An RC endpoint of a soft device: requester and responder between the device's sockets and their
// owner. The contract is RcEndpoint's; one thread, the device's.
//
// Packets that come from another address than the connected peer's are dropped. A request of the
// peer that is refused for good fails this side as well, as with any RC queue pair; the endpoint
// then answers repetitions of it with the refusal as long as it is polled.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "rdma/rc_endpoint.h"
#include "rdma/soft/drops.h"
#include "rdma/soft/packet_sink.h"
#include "rdma/soft/rc/memory_table.h"
#include "rdma/soft/rc/rc_drops.h"
#include "rdma/soft/rc/receive_share.h"
#include "rdma/soft/rc/requester.h"
#include "rdma/soft/rc/responder.h"
#include "rdma/soft/soft_port.h"

namespace pingloom::rdma::soft {

class SoftRcEndpoint final : public RcEndpoint, private PacketSink {
 public:
  // All three outlive it. REQUIRES: options that the device has checked, its MTU filled in.
  static Result<std::unique_ptr<RcEndpoint>> create(SoftPort& port, const MemoryTable& memory,
                                                    ReceiveShare& share, const RcOptions& options);
  ~SoftRcEndpoint() override;
  SoftRcEndpoint(const SoftRcEndpoint&) = delete;
  SoftRcEndpoint& operator=(const SoftRcEndpoint&) = delete;

  const RcAddress& address() const override { return address_; }
  RcState state() const override { return state_; }
  Status connect(const RcAddress& peer) override;
  PostResult post(const RcRequest& request) override;
  void flush() override;
  int descriptor() const override { return descriptor_.get(); }
  Status poll(RcEvents& events) override;
  Nanos nextWake() const override;
  // The device's, and what was addressed to this endpoint.
  std::vector<DropCount> drops() const override;

 private:
  SoftRcEndpoint(SoftPort& port, const MemoryTable& memory, ReceiveShare& share,
                 const RcOptions& options);
  std::string entity() const;
  void received(const Inbound& inbound) override;
  void departed(std::uint32_t, Nanos) override {}  // its packets are nobody's in particular
  void failed(std::uint32_t) override {}
  void pump(Nanos now_mono);
  void send(Packet& packet);
  void noticeFailure();

  SoftPort& port_;
  const MemoryTable& memory_;
  ReceiveShare& share_;
  RcOptions options_;
  SinkTable::Place place_{};
  UniqueFd descriptor_;
  RcAddress address_;
  RcAddress peer_;
  Route route_;
  std::uint32_t mtu_ = 0;  // of the path
  RcState state_ = RcState::kNew;
  std::string_view why_failed_;
  DropCounters drops_;
  RcDropCounters rc_drops_;
  std::optional<Requester> requester_;  // these two from connect() on
  std::optional<Responder> responder_;
  bool has_work_ = false;  // packets came, or there was more to send than pump() takes at a time
};

}  // namespace pingloom::rdma::soft
