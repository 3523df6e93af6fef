// The invariant CRC of RoCEv2: CRC-32 (the Ethernet polynomial) over eight bytes of 0xff, the IP
// header, the UDP header and everything from the BTH to the padding. Fields that routers may change
// count as 0xff: IPv4 TOS, TTL, checksum; IPv6 traffic class, flow label, hop limit; the UDP
// checksum; BTH byte 4. The CRC is stored little endian at the packet's end. It covers IPv4's ID
// and DF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/address.h"

namespace pingloom::rdma::soft {

// The identification that an unconnected socket with IP_PMTUDISC_DO or _PROBE sends: DF, and ID 0
// (with UDP GSO, segment k has ID k).
struct Ipv4Identification {
  std::uint16_t id = 0;
  std::uint16_t flags_offset = 0x4000;  // as in the header; DF is set, the fragment offset is 0
};

// The contribution of the masked IP and UDP headers of one direction of one flow to the CRC. It is
// a plain value and cheap to compute: a receiver makes one for each datagram, a sender keeps one
// for each destination and source port.
class IcrcFlow {
 public:
  // REQUIRES: both addresses have the same family.
  IcrcFlow(const IpAddress& source, std::uint16_t source_port, const IpAddress& destination,
           std::uint16_t destination_port);

  // Computes the CRC of the UDP payload `packet` without its last four bytes, where the iCRC goes.
  // IPv6 ignores the identification. REQUIRES: kMinPacketBytes <= packet.size() <= kMaxPacketBytes.
  std::uint32_t compute(std::span<const std::uint8_t> packet,
                        Ipv4Identification identification = {}) const;
  // Writes the CRC into the last four bytes. REQUIRES: the same as compute().
  void seal(std::span<std::uint8_t> packet, Ipv4Identification identification = {}) const;

 private:
  std::uint32_t shareOfHeaders(std::span<const std::uint8_t> packet,
                               Ipv4Identification identification) const;

  bool v4_;
  std::uint32_t unchanging_;  // the part of the CRC that all packets of the flow share
};

// Returns the iCRC that the packet carries. REQUIRES: packet.size() >= 4.
std::uint32_t receivedIcrc(std::span<const std::uint8_t> packet);

}  // namespace pingloom::rdma::soft
