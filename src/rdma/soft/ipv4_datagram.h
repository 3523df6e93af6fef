// The IP and UDP headers of a received IPv4 packet, as a raw socket (CAP_NET_RAW) shows them: with
// them the iCRC is checked exactly. A value; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/address.h"
#include "rdma/soft/icrc.h"

namespace pingloom::rdma::soft {

struct Ipv4Datagram {
  IpAddress source;
  IpAddress destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  Ipv4Identification identification;
  std::span<const std::uint8_t> payload;  // lies in the parsed bytes

  IcrcFlow flow() const { return {source, source_port, destination, destination_port}; }
};

enum class Ipv4Error : std::uint8_t {
  kNone,
  kShort,     // ends before its headers, or before the length they claim
  kVersion,   // not IPv4
  kOptions,   // IP options: RoCEv2 has none
  kFragment,  // a piece of a datagram
  kProtocol,  // not UDP
  kLength,    // the IP and UDP lengths contradict each other
};
std::string_view reasonOf(Ipv4Error error);

// The bytes come from outside, from the IP header on; link-layer padding may follow the packet.
// Checksums are the kernel's business. `out` is whole only on kNone.
Ipv4Error parse(std::span<const std::uint8_t> bytes, Ipv4Datagram& out);

}  // namespace pingloom::rdma::soft
