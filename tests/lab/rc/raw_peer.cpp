#include "raw_peer.h"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>

#include "check.h"
#include "common/random.h"

namespace pingloom::lab {

namespace soft = rdma::soft;

RawPeer::RawPeer(const Place& place) {
  const InNetwork there(place.network);
  auto bound = net::UdpSocket::bind(
      IpAddress::parse(place.address).value(), soft::kRoceUdpPort,
      {.unfragmented = true, .accept_no_checksum = true, .port_taken = "taken"});
  if (!bound) fail(bound.error().text());
  port_ =
      std::make_unique<soft::SoftPort>(UniqueFd(::epoll_create1(EPOLL_CLOEXEC)), std::move(*bound),
                                       std::nullopt, soft::Impairments{}, soft::QpnClass{});
  address_.gid = rdma::Gid::of(port_->address());
  address_.qpn = port_->sinks().add(*this).value().qpn;
  address_.mtu = kMtu;
  address_.reads = 16;
}

void RawPeer::connect(Host& subject, const rdma::RcOptions& options) {
  address_.psn = static_cast<std::uint32_t>(randomU64()) & soft::kMask24;
  subject_ = &subject;
  subject.makeEndpoint(options);
  subjects_psn_ = subject.endpoint().address().psn;
  if (auto connected = subject.endpoint().connect(address_); !connected) {
    fail(connected.error().text());
  }
  heard_.clear();
}

void RawPeer::send(soft::Packet packet) {
  packet.bth.migration_done = true;
  packet.bth.destination_qpn = subject_->endpoint().address().qpn;
  packet.bth.psn &= soft::kMask24;
  const soft::Route route{subject_->endpoint().address().gid.address(), 0, 0};
  require(port_->transmitter().add(route, packet, {}), "no room to send");
  port_->transmitter().flush(monotonicNow());
}

void RawPeer::sendRead(std::uint32_t psn, std::uint32_t length) {
  soft::Packet packet;
  packet.bth.opcode = soft::Opcode::kRcReadRequest;
  packet.bth.psn = psn;
  packet.reth = {subject_->region().address(), subject_->region().rkey(), length};
  send(packet);
}

void RawPeer::sendSyndrome(std::uint8_t syndrome, std::uint32_t psn) {
  soft::Packet packet;
  packet.bth.opcode = soft::Opcode::kRcAcknowledge;
  packet.bth.psn = psn;
  packet.aeth = {syndrome, 0};
  send(packet);
}

bool RawPeer::until(const std::function<bool()>& holds, Nanos limit) {
  const Nanos deadline = monotonicNow() + limit;
  for (;;) {
    port_->poll(4, monotonicNow());
    subject_->poll();
    if (holds()) return true;
    const Nanos now = monotonicNow();
    if (now >= deadline) return false;
    const Nanos due = std::min(subject_->endpoint().nextWake(), port_->transmitter().nextWake());
    const Nanos wait = std::clamp<Nanos>(due - now, 0, deadline - now);
    std::array<pollfd, 2> readable = {
        {{subject_->endpoint().descriptor(), POLLIN, 0}, {port_->epoll(), POLLIN, 0}}};
    const timespec timeout = {wait / kSecond, wait % kSecond};
    ::ppoll(readable.data(), readable.size(), &timeout, nullptr);
  }
}

void RawPeer::received(const soft::Inbound& inbound) {
  const soft::Packet& packet = inbound.packet;
  const bool acknowledges = (soft::formOf(packet.bth.opcode).headers & soft::kAethBit) != 0;
  const std::uint8_t syndrome = acknowledges ? packet.aeth.syndrome : std::uint8_t{0};
  heard_.push_back({packet.bth.opcode, packet.bth.psn, syndrome, packet.payload.size()});
}

}  // namespace pingloom::lab
