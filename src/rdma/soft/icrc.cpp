#include "rdma/soft/icrc.h"

#include <endian.h>
#include <isa-l/crc.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "rdma/soft/crc_polynomial.h"
#include "rdma/soft/packet_layout.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::size_t kMaskedLrhBytes = 8;  // where InfiniBand has its local route header
constexpr std::uint8_t kMasked = 0xFF;
constexpr std::size_t kBthCongestionByte = offsetof(BthLayout, congestion_qpn);
constexpr std::size_t kMaxHeadBytes =
    kMaskedLrhBytes + sizeof(ip6_hdr) + sizeof(udphdr) + sizeof(BthLayout);
static_assert(sizeof(iphdr) == 20 && sizeof(ip6_hdr) == 40 && sizeof(udphdr) == 8);

// Distances from the head's end: how many of its bytes follow the first byte of each.
constexpr std::size_t kFromBth = sizeof(BthLayout) - 1;
constexpr std::size_t kFromUdp = kFromBth + sizeof(udphdr);
constexpr std::size_t kFromV4 = kFromUdp + sizeof(iphdr);
constexpr std::size_t kFromV6 = kFromUdp + sizeof(ip6_hdr);

// A CRC is linear: the contribution of a byte depends only on its value, by which the table is
// indexed, and on the number of bytes that follow. For the few bytes that differ from packet to
// packet a look-up is faster than ISA-L over the whole head, because ISA-L is slow on short input.
constexpr auto kShares = [] {
  std::array<std::array<std::uint32_t, 256>, kFromV6> shares{};
  for (std::uint32_t value = 0; value < 256; ++value) {
    std::uint32_t crc = value;
    for (auto& share : shares) {
      for (int bit = 0; bit < 8; ++bit) crc = timesX(crc);
      share[value] = crc;
    }
  }
  return shares;
}();

// Returns the contribution of `kCount` adjacent bytes; `kDistance` bytes of the head follow the
// first of them.
template <std::size_t kDistance, std::size_t kCount>
std::uint32_t shareOf(const std::uint8_t* bytes) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return (kShares[kDistance - i][bytes[i]] ^ ...);
  }
  (std::make_index_sequence<kCount>());
}

template <std::size_t kDistance>
std::uint32_t shareOf16(std::size_t value) {
  return kShares[kDistance][value >> 8 & 0xFF] ^ kShares[kDistance - 1][value & 0xFF];
}

void putBe16(std::uint8_t* at, std::size_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8);
  at[1] = static_cast<std::uint8_t>(value);
}

// The fields that are not filled in differ from packet to packet.
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
    : v4_(source.isV4()) {
  std::array<std::uint8_t, kMaxHeadBytes> head{};
  std::uint8_t* ip = head.data() + kMaskedLrhBytes;
  std::fill_n(head.data(), kMaskedLrhBytes, kMasked);
  if (v4_) {
    fillV4(source, destination, ip);
  } else {
    fillV6(source, destination, ip);
  }
  std::uint8_t* udp = ip + (v4_ ? sizeof(iphdr) : sizeof(ip6_hdr));
  putBe16(udp + offsetof(udphdr, source), source_port);
  putBe16(udp + offsetof(udphdr, dest), destination_port);
  std::fill_n(udp + offsetof(udphdr, check), 2, kMasked);
  std::uint8_t* bth = udp + sizeof(udphdr);
  bth[kBthCongestionByte] = kMasked;
  const std::uint8_t* end = bth + sizeof(BthLayout);
  unchanging_ = crc32_gzip_refl(0, head.data(), static_cast<std::size_t>(end - head.data()));
}

std::uint32_t IcrcFlow::compute(std::span<const std::uint8_t> packet,
                                Ipv4Identification identification) const {
  const auto after_bth = packet.subspan(sizeof(BthLayout), packet.size() - kMinPacketBytes);
  const std::uint32_t head = unchanging_ ^ shareOfHeaders(packet, identification);
  return crc32_gzip_refl(head, after_bth.data(), after_bth.size());
}

// Returns the contribution of the fields that differ from packet to packet.
std::uint32_t IcrcFlow::shareOfHeaders(std::span<const std::uint8_t> packet,
                                       Ipv4Identification identification) const {
  constexpr std::size_t kAfterMasked = kBthCongestionByte + 1;
  const std::size_t udp_bytes = sizeof(udphdr) + packet.size();
  const std::uint32_t share = shareOf<kFromBth, kBthCongestionByte>(packet.data()) ^
                              shareOf<kFromBth - kAfterMasked, sizeof(BthLayout) - kAfterMasked>(
                                  packet.data() + kAfterMasked) ^
                              shareOf16<kFromUdp - offsetof(udphdr, len)>(udp_bytes);
  if (!v4_) return share ^ shareOf16<kFromV6 - offsetof(ip6_hdr, ip6_plen)>(udp_bytes);
  return share ^ shareOf16<kFromV4 - offsetof(iphdr, tot_len)>(sizeof(iphdr) + udp_bytes) ^
         shareOf16<kFromV4 - offsetof(iphdr, id)>(identification.id) ^
         shareOf16<kFromV4 - offsetof(iphdr, frag_off)>(identification.flags_offset);
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
