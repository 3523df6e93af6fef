#include "rdma/soft/icrc.h"

#include <endian.h>
#include <isa-l/crc.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cstring>

#include "rdma/soft/packet_layout.h"

namespace pingloom::rdma::soft {
namespace {

// Four of the eight bytes where InfiniBand has its local route header; see compute().
constexpr std::size_t kMaskedLrhBytes = 4;
constexpr std::size_t kFastBytes = 256;
constexpr std::array<std::uint8_t, kFastBytes> kZeros{};
constexpr std::uint32_t kZeroStart = ~0U;  // ISA-L inverts it
constexpr std::uint8_t kMasked = 0xFF;
constexpr std::size_t kBthCongestionByte = offsetof(BthLayout, congestion_qpn);
static_assert(sizeof(iphdr) == 20 && sizeof(ip6_hdr) == 40 && sizeof(udphdr) == 8);

void putBe16(std::uint8_t* at, std::size_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8);
  at[1] = static_cast<std::uint8_t>(value);
}

// Lengths, ID and flags follow per packet.
void fillV4(const IpAddress& source, const IpAddress& destination, std::uint8_t* ip) {
  ip[0] = 0x45;
  ip[offsetof(iphdr, tos)] = kMasked;
  ip[offsetof(iphdr, ttl)] = kMasked;
  ip[offsetof(iphdr, protocol)] = IPPROTO_UDP;
  std::fill_n(ip + offsetof(iphdr, check), 2, kMasked);
  std::copy_n(source.bytes().begin(), 4, ip + offsetof(iphdr, saddr));
  std::copy_n(destination.bytes().begin(), 4, ip + offsetof(iphdr, daddr));
}

void fillV6(const IpAddress& source, const IpAddress& destination, std::uint8_t* ip) {
  ip[0] = 0x6F;  // version, and the traffic class' upper half masked
  std::fill_n(ip + 1, 3, kMasked);
  ip[offsetof(ip6_hdr, ip6_nxt)] = IPPROTO_UDP;
  ip[offsetof(ip6_hdr, ip6_hlim)] = kMasked;
  std::copy_n(source.bytes().begin(), 16, ip + offsetof(ip6_hdr, ip6_src));
  std::copy_n(destination.bytes().begin(), 16, ip + offsetof(ip6_hdr, ip6_dst));
}

}  // namespace

IcrcFlow::IcrcFlow(const IpAddress& source, std::uint16_t source_port, const IpAddress& destination,
                   std::uint16_t destination_port)
    : head_bytes_(source.isV4() ? kV4HeadBytes : kV6HeadBytes) {
  std::uint8_t* ip = head_.data() + kMaskedLrhBytes;
  std::fill_n(head_.data(), kMaskedLrhBytes, kMasked);
  if (source.isV4()) {
    fillV4(source, destination, ip);
  } else {
    fillV6(source, destination, ip);
  }
  std::uint8_t* udp = ip + (source.isV4() ? sizeof(iphdr) : sizeof(ip6_hdr));
  putBe16(udp + offsetof(udphdr, source), source_port);
  putBe16(udp + offsetof(udphdr, dest), destination_port);
  std::fill_n(udp + offsetof(udphdr, check), 2, kMasked);
}

// ISA-L is slow over what is shorter than 256 bytes, unless it is padded: a CRC that starts from
// zero does not see leading zeros, and the first four of the eight 0xff bytes turn the CRC's usual
// start into zero.
std::uint32_t IcrcFlow::compute(std::span<const std::uint8_t> packet,
                                Ipv4Identification identification) const {
  const auto after_bth = packet.subspan(sizeof(BthLayout), packet.size() - kMinPacketBytes);
  std::array<std::uint8_t, 2 * kFastBytes> lead;
  if (after_bth.size() >= kFastBytes) {
    writeHead(packet, identification, lead.data());
    const std::uint32_t crc = crc32_gzip_refl(kZeroStart, lead.data(), head_bytes_);
    return crc32_gzip_refl(crc, after_bth.data(), after_bth.size());
  }
  const std::size_t covered = head_bytes_ + after_bth.size();
  const std::size_t room = covered <= kFastBytes ? kFastBytes : 2 * kFastBytes;
  std::memcpy(lead.data(), kZeros.data(), room - covered);  // faster than gcc's way to clear
  std::uint8_t* head = lead.data() + room - covered;
  writeHead(packet, identification, head);
  std::memcpy(head + head_bytes_, after_bth.data(), after_bth.size());
  return crc32_gzip_refl(kZeroStart, lead.data(), room);
}

void IcrcFlow::writeHead(std::span<const std::uint8_t> packet, Ipv4Identification identification,
                         std::uint8_t* head) const {
  std::memcpy(head, head_.data(), head_.size());  // of a known size it is fast
  std::uint8_t* ip = head + kMaskedLrhBytes;
  const std::size_t udp_bytes = sizeof(udphdr) + packet.size();
  if (isV4()) {
    putBe16(ip + offsetof(iphdr, tot_len), sizeof(iphdr) + udp_bytes);
    putBe16(ip + offsetof(iphdr, id), identification.id);
    putBe16(ip + offsetof(iphdr, frag_off), identification.flags_offset);
  } else {
    putBe16(ip + offsetof(ip6_hdr, ip6_plen), udp_bytes);
  }
  std::uint8_t* bth = head + head_bytes_ - sizeof(BthLayout);
  putBe16(bth - sizeof(udphdr) + offsetof(udphdr, len), udp_bytes);
  std::memcpy(bth, packet.data(), sizeof(BthLayout));
  bth[kBthCongestionByte] = kMasked;
}

void IcrcFlow::seal(std::span<std::uint8_t> packet, Ipv4Identification identification) const {
  const std::uint32_t icrc = htole32(compute(packet, identification));
  std::memcpy(packet.data() + packet.size() - kIcrcBytes, &icrc, kIcrcBytes);
}

std::uint32_t receivedIcrc(std::span<const std::uint8_t> packet) {
  std::uint32_t icrc = 0;
  std::memcpy(&icrc, packet.data() + packet.size() - kIcrcBytes, kIcrcBytes);
  return le32toh(icrc);
}

}  // namespace pingloom::rdma::soft
