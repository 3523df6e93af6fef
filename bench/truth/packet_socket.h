// Opens a packet socket on one interface.
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "common/error.h"
#include "common/fd.h"

namespace pingloom::truth {

// With protocol ETH_P_ALL the socket sees packets that arrive and that depart, with any other only
// those that arrive.
inline Result<UniqueFd> openPacketSocket(const std::string& interface, std::uint16_t protocol) {
  UniqueFd made(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return makeErrnoError(interface, "cannot open a packet socket", errno);
  const int bytes = 256 << 20;
  setsockopt(made.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  const int one = 1;
  setsockopt(made.get(), SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  if (address.sll_ifindex == 0) return makeErrnoError(interface, "no such interface", errno);
  if (bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return makeErrnoError(interface, "cannot bind a packet socket", errno);
  }
  return made;
}

// Gives the kernel's timestamp among a message's ancillary data, or 0.
inline long long timestampOf(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_TIMESTAMPNS) continue;
    const auto* time = reinterpret_cast<const timespec*>(CMSG_DATA(part));
    return time->tv_sec * 1'000'000'000LL + time->tv_nsec;
  }
  return 0;
}

}  // namespace pingloom::truth
