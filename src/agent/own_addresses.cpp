#include "agent/own_addresses.h"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "agent/config.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {
namespace {

constexpr std::array<std::string_view, 6> kBridgePrefixes = {"docker",  "virbr",  "cni",
                                                             "flannel", "podman", "lxcbr"};

// Tells whether it is one of Docker's networks: br- and twelve hexadecimal digits. Others such as
// br-ex belong to the operator.
bool dockerNetwork(std::string_view interface) {
  return interface.size() == 15 && interface.starts_with("br-") &&
         interface.find_first_not_of("0123456789abcdef", 3) == std::string_view::npos;
}

}  // namespace

bool behindBridge(std::string_view interface) {
  if (dockerNetwork(interface)) return true;
  return std::any_of(kBridgePrefixes.begin(), kBridgePrefixes.end(),
                     [&](std::string_view prefix) { return interface.starts_with(prefix); });
}

std::vector<IpAddress> machineAddresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<IpAddress> found;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0 || behindBridge(at->ifa_name)) {
      continue;
    }
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const IpAddress address = IpAddress::fromSockaddr(at->ifa_addr);
    if (!address.isLoopback() && !address.isLinkLocal() && !address.isUnspecified()) {
      found.push_back(address);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > wire::kMaxHostAddresses) found.resize(wire::kMaxHostAddresses);
  return found;
}

Result<AddressWatch> AddressWatch::start() {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return makeErrnoError("netlink", "cannot watch the machine's addresses", errno);
  }
  return AddressWatch(std::move(socket));
}

void AddressWatch::drain() {
  std::array<char, 8192> buffer;
  // ENOBUFS means that messages were lost, which counts as a message.
  while (::recv(socket_.get(), buffer.data(), buffer.size(), 0) > 0 || errno == ENOBUFS) {
    errno = 0;
  }
}

}  // namespace pingloom::agent
