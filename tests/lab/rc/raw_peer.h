// A peer that says over RC what it is told to, right or wrong, and hears everything: the packets of
// a soft device without an endpoint's rules.
#pragma once

#include <memory>
#include <vector>

#include "connection.h"
#include "rdma/soft/soft_port.h"

namespace pingloom::lab {

// A packet that came, without its payload.
struct Heard {
  rdma::soft::Opcode opcode = rdma::soft::Opcode::kRcAcknowledge;
  std::uint32_t psn = 0;
  std::uint8_t syndrome = 0;
  std::size_t bytes = 0;
};

class RawPeer final : private rdma::soft::PacketSink {
 public:
  static constexpr std::uint32_t kMtu = 1024;

  explicit RawPeer(const Place& place);

  // Both sides know each other from here on; what was heard before is forgotten.
  void connect(Host& subject, const rdma::RcOptions& options);
  std::uint32_t ownPsn() const { return address_.psn; }        // of its first request
  std::uint32_t subjectsPsn() const { return subjects_psn_; }  // of the subject's first request
  // All but the opcode, the PSN and the headers is filled in.
  void send(rdma::soft::Packet packet);
  void sendRead(std::uint32_t psn, std::uint32_t length);
  void sendSyndrome(std::uint8_t syndrome, std::uint32_t psn);
  const std::vector<Heard>& heard() const { return heard_; }
  // As an event loop of both sides would; whether it came true in time.
  bool until(const std::function<bool()>& holds, Nanos limit = 10 * kSecond);

 private:
  void received(const rdma::soft::Inbound& inbound) override;
  void departed(std::uint32_t, Nanos) override {}
  void failed(std::uint32_t) override {}

  std::unique_ptr<rdma::soft::SoftPort> port_;
  rdma::RcAddress address_;
  Host* subject_ = nullptr;
  std::uint32_t subjects_psn_ = 0;
  std::vector<Heard> heard_;
};

}  // namespace pingloom::lab
