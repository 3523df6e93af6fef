// The kernel begins to stamp what arrives a moment after the first socket on the machine asks for
// it: a test that measures waits for that moment.
#pragma once

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "common/fd.h"
#include "unit/eventually.h"

namespace pingloom::net {

// Sends itself a datagram, and tells whether it arrived with a stamp, or not at all.
inline bool arrivesStamped(int socket, const sockaddr* self, socklen_t length) {
  if (::sendto(socket, "x", 1, 0, self, length) != 1) return true;
  std::array<char, 8> data{};
  std::array<char, 256> control{};
  iovec piece{data.data(), data.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  return ::recvmsg(socket, &message, 0) != 1 || CMSG_FIRSTHDR(&message) != nullptr;
}

// One socket that asks stays open until the process ends.
inline void awaitArrivalStamps() {
  static const UniqueFd kept = [] {
    UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in self{};
    self.sin_family = AF_INET;
    self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof self;
    auto* const address = reinterpret_cast<sockaddr*>(&self);
    const int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags);
    if (bind(socket.get(), address, length) != 0) return socket;
    getsockname(socket.get(), address, &length);
    pingloom::test::eventually([&] { return arrivesStamped(socket.get(), address, length); });
    return socket;
  }();
  (void)kept;
}

}  // namespace pingloom::net
