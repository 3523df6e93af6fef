// The invariant CRC of RoCEv2: CRC-32 (the Ethernet polynomial) over eight bytes of 0xff, the IP
// header, the UDP header and everything from the BTH to the padding, with what routers may change
// taken as 0xff: IPv4 TOS, TTL, checksum; IPv6 traffic class, flow label, hop limit; the UDP
// checksum; BTH byte 4. It lies little endian at the packet's end. IPv4's ID and DF are covered
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/address.h"

namespace pingloom::rdma::soft {

// What an unconnected socket under IP_PMTUDISC_DO or _PROBE sends: ID 0 (with UDP GSO, segment k
// has ID k) and DF.
struct Ipv4Identification {
  std::uint16_t id = 0;
  std::uint16_t flags_offset = 0x4000;  // as in the header: DF, fragment offset 0
};

// A plain value: what the masked IP and UDP headers of one direction of one flow add to the CRC.
// Cheap to make, so a receiver makes one per datagram and a sender keeps one per destination and
// source port.
class IcrcFlow {
 public:
  // REQUIRES: both addresses of one family.
  IcrcFlow(const IpAddress& source, std::uint16_t source_port, const IpAddress& destination,
           std::uint16_t destination_port);

  // Of the UDP payload `packet`, the last four bytes (the iCRC's own) left out. The identification
  // is not used with IPv6. REQUIRES: kMinPacketBytes <= packet.size() <= kMaxPacketBytes.
  std::uint32_t compute(std::span<const std::uint8_t> packet,
                        Ipv4Identification identification = {}) const;
  // Writes it into the last four bytes. REQUIRES: as compute().
  void seal(std::span<std::uint8_t> packet, Ipv4Identification identification = {}) const;

 private:
  std::uint32_t shareOfHeaders(std::span<const std::uint8_t> packet,
                               Ipv4Identification identification) const;

  bool v4_;
  std::uint32_t unchanging_;  // the CRC's part that is the same for all packets of the flow
};

// The one that the packet carries. REQUIRES: packet.size() >= 4.
std::uint32_t receivedIcrc(std::span<const std::uint8_t> packet);

}  // namespace pingloom::rdma::soft
