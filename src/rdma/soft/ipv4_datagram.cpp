#include "rdma/soft/ipv4_datagram.h"

#include <endian.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include <cstring>

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint16_t kMoreFragmentsOrOffset = 0x3FFF;

}  // namespace

std::string_view reasonOf(Ipv4Error error) {
  switch (error) {
    case Ipv4Error::kNone:
      return "none";
    case Ipv4Error::kShort:
      return "short";
    case Ipv4Error::kVersion:
      return "version";
    case Ipv4Error::kOptions:
      return "options";
    case Ipv4Error::kFragment:
      return "fragment";
    case Ipv4Error::kProtocol:
      return "protocol";
    case Ipv4Error::kLength:
      return "length";
  }
  return "unknown";
}

Ipv4Error parse(std::span<const std::uint8_t> bytes, Ipv4Datagram& out) {
  if (bytes.size() < sizeof(iphdr) + sizeof(udphdr)) return Ipv4Error::kShort;
  iphdr ip;
  std::memcpy(&ip, bytes.data(), sizeof ip);
  if (ip.version != 4) return Ipv4Error::kVersion;
  if (ip.ihl != 5) return Ipv4Error::kOptions;
  if (ip.protocol != IPPROTO_UDP) return Ipv4Error::kProtocol;
  const std::uint16_t flags_offset = be16toh(ip.frag_off);
  if ((flags_offset & kMoreFragmentsOrOffset) != 0) return Ipv4Error::kFragment;
  const std::size_t total = be16toh(ip.tot_len);
  if (total > bytes.size()) return Ipv4Error::kShort;

  udphdr udp;
  std::memcpy(&udp, bytes.data() + sizeof ip, sizeof udp);
  const std::size_t udp_bytes = be16toh(udp.len);
  if (udp_bytes < sizeof udp || sizeof ip + udp_bytes != total) return Ipv4Error::kLength;
  out.source = IpAddress::fromV4(be32toh(ip.saddr));
  out.destination = IpAddress::fromV4(be32toh(ip.daddr));
  out.source_port = be16toh(udp.source);
  out.destination_port = be16toh(udp.dest);
  out.identification = {be16toh(ip.id), flags_offset};
  out.payload = bytes.subspan(sizeof ip + sizeof udp, udp_bytes - sizeof udp);
  return Ipv4Error::kNone;
}

}  // namespace pingloom::rdma::soft
