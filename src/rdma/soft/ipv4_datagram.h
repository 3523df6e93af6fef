// The IP and UDP headers of a received IPv4 packet, which a raw socket (CAP_NET_RAW) provides. They
// allow an exact check of the iCRC. A plain value; any thread.
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
  kOptions,   // has IP options, which RoCEv2 does not use
  kFragment,  // is a fragment of a datagram
  kProtocol,  // not UDP
  kLength,    // the IP and UDP lengths contradict each other
};
std::string_view reasonOf(Ipv4Error error);

// The bytes come from outside and begin with the IP header; link-layer padding may follow the
// packet. The kernel checks the checksums. `out` is complete only on kNone.
Ipv4Error parse(std::span<const std::uint8_t> bytes, Ipv4Datagram& out);

}  // namespace pingloom::rdma::soft
