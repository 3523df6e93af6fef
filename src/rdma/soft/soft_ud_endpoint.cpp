#include "rdma/soft/soft_ud_endpoint.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "common/random.h"

namespace pingloom::rdma::soft {
namespace {

bool isUnicast(const IpAddress& address) {
  if (address.isUnspecified()) return false;
  const std::uint8_t first = address.bytes()[0];
  return address.isV4() ? first < 224 : first != 0xFF;  // above: multicast, reserved, broadcast
}

std::uint32_t random32() { return static_cast<std::uint32_t>(randomU64()); }

}  // namespace

Result<std::unique_ptr<UdEndpoint>> SoftUdEndpoint::create(SoftPort& port, std::uint32_t mtu,
                                                           std::uint32_t q_key,
                                                           std::uint32_t flow_label) {
  std::unique_ptr<SoftUdEndpoint> made(new SoftUdEndpoint(port, mtu, q_key, flow_label));
  const std::string entity = "soft " + port.address().text();
  const auto place = port.sinks().add(*made);
  if (!place) return makeError(entity, "too many endpoints on this device");
  made->place_ = *place;
  made->address_.qpn = place->qpn;
  // Each endpoint has its own descriptor, so that one epoll set can watch several.
  made->descriptor_.reset(fcntl(port.epoll(), F_DUPFD_CLOEXEC, 0));
  if (!made->descriptor_.valid()) return makeErrnoError(entity, "dup", errno);
  return made;
}

SoftUdEndpoint::SoftUdEndpoint(SoftPort& port, std::uint32_t mtu, std::uint32_t q_key,
                               std::uint32_t flow_label)
    : port_(port),
      mtu_(mtu),
      link_mtu_(port.interface().state().link_mtu),
      flow_label_(flow_label),
      psn_(random32() & kMask24),
      in_flight_(random32()),
      queue_(mtu) {
  address_.gid = Gid::of(port.address());
  address_.q_key = q_key;
}

SoftUdEndpoint::~SoftUdEndpoint() {
  if (place_.owner != 0) port_.sinks().remove(place_);
}

bool SoftUdEndpoint::canReach(const IpAddress& address) const {
  return address.isV4() == port_.address().isV4() && isUnicast(address);
}

PostResult SoftUdEndpoint::post(const UdMessage& message) {
  const UdPath& path = message.path;
  if (path.gid_index.value_or(0) != 0) return PostResult::kUnreachable;  // it has one GID
  const Route route = {path.gid.address(), labelOf(path), path.traffic_class, path.hop_limit};
  if (!canReach(route.destination)) return PostResult::kUnreachable;
  if (in_flight_.full()) return PostResult::kFull;
  const std::uint32_t number = in_flight_.add(message.id);
  if (message.payload.size() > mtu_) {
    failed(number);
    return PostResult::kPosted;
  }
  const Packet packet = udPacket(message.qpn, psn_, {message.q_key, address_.qpn}, message.payload);
  if (!port_.transmitter().add(route, packet, {place_.owner, number})) {
    in_flight_.undo();
    return PostResult::kFull;
  }
  psn_ = (psn_ + 1) & kMask24;
  return PostResult::kPosted;
}

void SoftUdEndpoint::flush() {
  const Nanos now = monotonicNow();
  in_flight_.flushed(now);
  port_.transmitter().flush(now);
}

Status SoftUdEndpoint::poll(UdEvents& events) {
  events.clear();
  queue_.forgetShown();
  const Nanos now = monotonicNow();
  port_.poll(static_cast<int>(queue_.room() / net::RxBatch::kMax), now);
  in_flight_.expire(now, sent_);
  events.sent.insert(events.sent.end(), sent_.begin(), sent_.end());
  sent_.clear();
  events.expired.swap(expired_);
  queue_.show(events.received);
  if (isLost()) return makeError("soft " + port_.address().text(), fault());
  return {};
}

bool SoftUdEndpoint::isLost() const {
  const InterfaceState& now = port_.interface().state();
  return !now.hasAddress() || !now.up || now.mtu == 0 || now.link_mtu != link_mtu_;
}

std::string SoftUdEndpoint::fault() const {
  const InterfaceState& now = port_.interface().state();
  std::string found = port_.interface().fault();
  if (found.empty() && now.link_mtu != link_mtu_) {
    found = "the MTU of " + now.name + " has changed from " + std::to_string(link_mtu_) + " to " +
            std::to_string(now.link_mtu);
  }
  return found;
}

Nanos SoftUdEndpoint::nextWake() const {
  if (!sent_.empty() || !expired_.empty() || queue_.hasNews() || isLost()) return kAtOnce;
  return std::min(in_flight_.nextExpiry(), port_.transmitter().nextWake());
}

void SoftUdEndpoint::received(const Inbound& inbound) {
  const Packet& packet = inbound.packet;
  const Opcode opcode = packet.bth.opcode;
  if (opcode != Opcode::kUdSendOnly && opcode != Opcode::kUdSendOnlyImmediate) {
    return drops_.add(Drop::kOpcode);
  }
  if (packet.deth.q_key != address_.q_key) return drops_.add(Drop::kQKey);
  if (packet.payload.size() > mtu_) return drops_.add(Drop::kLong);
  if (queue_.full()) return drops_.add(Drop::kReceiveQueue);
  UdReceived message;
  message.payload = packet.payload;
  message.from.gid = Gid::of(inbound.source);
  message.from.traffic_class = inbound.traffic_class;
  message.qpn = packet.deth.source_qpn;
  if (inbound.kernel_utc != 0) message.ticks = static_cast<std::uint64_t>(inbound.kernel_utc);
  queue_.add(message);
}

void SoftUdEndpoint::departed(std::uint32_t id, Nanos utc) {
  in_flight_.finish(id, {.id = 0, .ok = true, .ticks = static_cast<std::uint64_t>(utc)}, sent_);
}

void SoftUdEndpoint::failed(std::uint32_t id) {
  in_flight_.finish(id, {.id = 0, .ok = false, .ticks = std::nullopt}, sent_);
}

void SoftUdEndpoint::expired(const UdExpired& how) {
  if (expired_.size() >= kMaxExpired) return drops_.add(Drop::kIcmpError);
  expired_.push_back(how);
}

}  // namespace pingloom::rdma::soft
