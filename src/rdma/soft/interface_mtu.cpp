#include "rdma/soft/interface_mtu.h"

#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>

#include <string>

#include "rdma/soft/interface_watch.h"
#include "rdma/soft/packet_layout.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint32_t kMinMtu = 256;
constexpr std::size_t kRoceBytes = kMaxPacketBytes - kMaxPayloadBytes;

}  // namespace

std::uint32_t pathMtuFor(std::size_t link_mtu, bool v6) {
  const std::size_t headers = (v6 ? sizeof(ip6_hdr) : sizeof(iphdr)) + sizeof(udphdr) + kRoceBytes;
  for (std::uint32_t mtu = kMaxPayloadBytes; mtu >= kMinMtu; mtu /= 2) {
    if (mtu + headers <= link_mtu) return mtu;
  }
  return 0;
}

Result<std::uint32_t> pathMtuOf(const IpAddress& address) {
  const auto interface = interfaceStateOf(address);
  if (!interface) return tl::unexpected(interface.error());
  if (!interface->hasAddress()) {
    return makeError(address.text(), "no network interface of this host has this address");
  }
  if (!interface->up) return makeError(interface->name, "its link is down");
  if (interface->mtu != 0) return interface->mtu;
  return makeError(interface->name, "its MTU of " + std::to_string(interface->link_mtu) +
                                        " has no room for RoCE packets of 256 bytes");
}

}  // namespace pingloom::rdma::soft
