#include "rdma/soft/receiver.h"

#include <netinet/ip.h>

#include <algorithm>
#include <utility>

#include "rdma/soft/icrc.h"
#include "rdma/soft/icrc_residual.h"
#include "rdma/soft/ipv4_datagram.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::size_t kMaxSegments = 64;  // the limit of UDP GSO
constexpr std::size_t kAhead = 2;         // packets by which one is announced in advance

Drop dropFor(PacketError error) {
  switch (error) {
    case PacketError::kShort:
      return Drop::kShort;
    case PacketError::kLong:
      return Drop::kLong;
    case PacketError::kVersion:
      return Drop::kVersion;
    case PacketError::kOpcode:
      return Drop::kOpcode;
    case PacketError::kPad:
      return Drop::kPad;
    default:
      return Drop::kPayload;
  }
}

// An endpoint is a full member of the default partition; full and limited members may talk to it.
bool isOurPartition(std::uint16_t p_key) { return (p_key & 0x7FFF) == (kDefaultPKey & 0x7FFF); }

}  // namespace

Receiver::Receiver(net::UdpSocket& bound, std::optional<net::RawUdpSocket> raw, SinkTable& sinks,
                   DropCounters& drops)
    : bound_(bound), raw_(std::move(raw)), sinks_(sinks), drops_(drops), batch_(IP_MAXPACKET) {}

int Receiver::receive(Nanos now_mono) {
  now_mono_ = now_mono;
  const int got = batch_.receive(descriptor(), 0);
  for (int i = 0; i < got; ++i) receiveOne(static_cast<std::size_t>(i));
  return got;
}

void Receiver::receiveOne(std::size_t i) {
  Datagram datagram;
  const net::Ancillary about = batch_.ancillary(i);
  if (about.overflow) {
    drops_.add(Drop::kSocketOverflow,
               raw_ ? raw_->newlyDropped(*about.overflow) : bound_.newlyDropped(*about.overflow));
  }
  if (batch_.length(i) > batch_.head(i).size()) return drops_.add(Drop::kLong);
  datagram.kernel_utc = about.kernel_utc;
  if (!raw_) {
    datagram.payload = batch_.head(i);
    datagram.from = batch_.from(i);
    datagram.traffic_class = about.traffic_class;
    const std::size_t bytes = about.segment_bytes;
    deliverMessage(datagram, bytes == 0 ? datagram.payload.size() : bytes, flowOf(datagram), false);
  } else if (readRaw(batch_.head(i), datagram)) {
    deliverRaw(datagram);
  }
}

bool Receiver::readRaw(std::span<const std::uint8_t> bytes, Datagram& out) {
  Ipv4Datagram ip;
  if (parse(bytes, ip) != Ipv4Error::kNone) {
    drops_.add(Drop::kIpHeader);
    return false;
  }
  // Such packets arrived before the filter was in place.
  if (ip.destination_port != kRoceUdpPort || ip.destination != bound_.address()) return false;
  out.payload = ip.payload;
  out.from = {ip.source, ip.source_port};
  out.traffic_class = bytes[offsetof(iphdr, tos)];
  out.identification = ip.identification;
  return true;
}

// Returns the size of the first packet in the datagram, or 0 if its iCRC holds for no size.
std::size_t Receiver::firstBytes(const IcrcFlow& flow, const Datagram& whole) const {
  const auto holds = [&](std::size_t bytes) {
    if (bytes < kMinPacketBytes || bytes > kMaxPacketBytes) return false;
    Datagram first = whole;
    first.payload = whole.payload.first(bytes);
    return icrcHolds(flow, first);
  };
  const std::size_t size = whole.payload.size();
  const std::size_t likely = last_first_bytes_;
  if (likely != 0 && size % likely == 0 && size / likely <= kMaxSegments && holds(likely)) {
    return likely;
  }
  for (std::size_t count = 1; count <= kMaxSegments; ++count) {
    if (size % count == 0 && holds(size / count)) return size / count;
  }
  return 0;
}

void Receiver::deliverRaw(const Datagram& whole) {
  const IcrcFlow flow = flowOf(whole);
  const std::size_t bytes = firstBytes(flow, whole);
  if (bytes == 0) return deliver(flow, whole, false);
  last_first_bytes_ = bytes;
  deliverMessage(whole, bytes, flow, true);
}

void Receiver::deliverMessage(Datagram whole, std::size_t bytes, const IcrcFlow& flow,
                              bool first_holds) {
  const auto all = whole.payload;
  std::size_t at = 0;
  do {  // a datagram may be empty
    announce(all.subspan(std::min(at + kAhead * bytes, all.size())));
    whole.payload = all.subspan(at, std::min(bytes, all.size() - at));
    deliver(flow, whole, first_holds && at == 0);
    ++whole.identification.id;
    at += bytes;
  } while (at < all.size());
}

// WRITEs of a message may be for places far apart, and each would wait for its memory.
void Receiver::announce(std::span<const std::uint8_t> packet) const {
  const auto write = peekWrite(packet);
  if (!write) return;
  if (PacketSink* sink = sinks_.byQpn(write->destination_qpn)) sink->announced(write->reth);
}

void Receiver::deliver(const IcrcFlow& flow, const Datagram& datagram, bool holds) {
  const PacketError error = parse(datagram.payload, inbound_.packet);
  if (error != PacketError::kNone) return drops_.add(dropFor(error));
  // The iCRC is checked first, because the fields of a damaged packet mean nothing.
  if (!holds && !icrcHolds(flow, datagram)) return drops_.add(Drop::kIcrc);
  if (!isOurPartition(inbound_.packet.bth.p_key)) return drops_.add(Drop::kPKey);
  PacketSink* sink = sinks_.byQpn(inbound_.packet.bth.destination_qpn);
  if (sink == nullptr) return drops_.add(Drop::kQpn);
  inbound_.source = datagram.from.address;
  inbound_.traffic_class = datagram.traffic_class;
  inbound_.kernel_utc = datagram.kernel_utc;
  inbound_.now_mono = now_mono_;
  sink->received(inbound_);
}

IcrcFlow Receiver::flowOf(const Datagram& datagram) const {
  return {datagram.from.address, datagram.from.port, bound_.address(), kRoceUdpPort};
}

bool Receiver::icrcHolds(const IcrcFlow& flow, const Datagram& datagram) const {
  const auto packet = datagram.payload;
  const std::uint32_t difference =
      flow.compute(packet, datagram.identification) ^ receivedIcrc(packet);
  if (difference == 0) return true;
  return !isExact() && explainingId(difference, packet.size()).has_value();
}

}  // namespace pingloom::rdma::soft
