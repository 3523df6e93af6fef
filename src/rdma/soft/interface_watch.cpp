#include "rdma/soft/interface_watch.h"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "common/log.h"
#include "rdma/soft/interface_mtu.h"

namespace pingloom::rdma::soft {
namespace {

bool holds(const ifaddrs& interface, const IpAddress& address) {
  if (interface.ifa_addr == nullptr) return false;
  const int family = interface.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return false;
  if (IpAddress::fromSockaddr(interface.ifa_addr) == address) return true;
  const bool loopback = (interface.ifa_flags & IFF_LOOPBACK) != 0;
  return loopback && family == AF_INET && address.isV4() && address.isLoopback();
}

Status readLinkMtu(InterfaceState& state) {
  const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  state.name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (!any.valid() || ioctl(any.get(), SIOCGIFMTU, &request) != 0) {
    return makeErrnoError(state.name, "its MTU", errno);
  }
  state.link_mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  return {};
}

}  // namespace

Result<InterfaceState> interfaceStateOf(const IpAddress& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return makeErrnoError(address.text(), "getifaddrs", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  InterfaceState state;
  for (const ifaddrs* at = list; at != nullptr && !state.hasAddress(); at = at->ifa_next) {
    if (!holds(*at, address)) continue;
    state.name = at->ifa_name;
    state.up = (at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_RUNNING) != 0;
  }
  if (!state.hasAddress()) return state;
  if (auto read = readLinkMtu(state); !read) return tl::unexpected(read.error());
  state.mtu = pathMtuFor(state.link_mtu, !address.isV4());
  return state;
}

void InterfaceWatch::open() {
  socket_.reset(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl group{};
  group.nl_family = AF_NETLINK;
  group.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (!socket_.valid() ||
      ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&group), sizeof group) != 0) {
    log::warning("soft {}: its interface is not followed: {}", address_.text(),
                 makeErrnoError("netlink", "socket", errno).value().text());
    socket_.reset();
  }
  // The state is read after the socket was bound, so that no change is missed.
  if (auto now = interfaceStateOf(address_)) state_ = std::move(*now);
}

void InterfaceWatch::check() {
  std::array<char, 8192> buffer;
  bool changed = false;
  // ENOBUFS means that messages were lost, which counts as a message.
  for (;;) {
    if (::recv(socket_.get(), buffer.data(), buffer.size(), 0) <= 0 && errno != ENOBUFS) break;
    changed = true;
  }
  if (!changed) return;
  if (auto now = interfaceStateOf(address_)) state_ = std::move(*now);
}

std::string InterfaceWatch::fault() const {
  if (!state_.hasAddress()) return "no network interface has its address any more";
  if (!state_.up) return "the link of " + state_.name + " is down";
  if (state_.mtu == 0) {
    return "the MTU of " + state_.name + ", " + std::to_string(state_.link_mtu) +
           ", has no room for RoCE packets of 256 bytes";
  }
  return "";
}

}  // namespace pingloom::rdma::soft
