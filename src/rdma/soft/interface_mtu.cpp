#include "rdma/soft/interface_mtu.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "common/fd.h"
#include "rdma/soft/packet_layout.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint32_t kMinMtu = 256;
constexpr std::size_t kRoceBytes = kMaxPacketBytes - kMaxPayloadBytes;

bool holds(const ifaddrs& interface, const IpAddress& address) {
  if (interface.ifa_addr == nullptr) return false;
  const int family = interface.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return false;
  if (IpAddress::fromSockaddr(interface.ifa_addr) == address) return true;
  const bool loopback = (interface.ifa_flags & IFF_LOOPBACK) != 0;
  return loopback && family == AF_INET && address.isV4() && address.isLoopback();
}

Result<std::string> interfaceOf(const IpAddress& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return makeErrnoError(address.text(), "getifaddrs", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (holds(*at, address)) return std::string(at->ifa_name);
  }
  return makeError(address.text(), "no network interface of this host has this address");
}

}  // namespace

std::uint32_t pathMtuFor(std::size_t link_mtu, bool v6) {
  const std::size_t headers = (v6 ? sizeof(ip6_hdr) : sizeof(iphdr)) + sizeof(udphdr) + kRoceBytes;
  for (std::uint32_t mtu = kMaxPayloadBytes; mtu >= kMinMtu; mtu /= 2) {
    if (mtu + headers <= link_mtu) return mtu;
  }
  return 0;
}

Result<std::uint32_t> pathMtuOf(const IpAddress& address) {
  const auto interface = interfaceOf(address);
  if (!interface) return tl::unexpected(interface.error());
  const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface->copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (!any.valid() || ioctl(any.get(), SIOCGIFMTU, &request) != 0) {
    return makeErrnoError(*interface, "its MTU", errno);
  }
  const std::uint32_t mtu = pathMtuFor(static_cast<std::size_t>(request.ifr_mtu), !address.isV4());
  if (mtu != 0) return mtu;
  return makeError(*interface, "its MTU of " + std::to_string(request.ifr_mtu) +
                                   " has no room for RoCE packets of 256 bytes");
}

}  // namespace pingloom::rdma::soft
