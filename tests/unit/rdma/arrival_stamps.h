// The kernel begins to stamp what arrives a moment after the first socket on the machine asks for
// it: a test that measures waits for that moment.
#pragma once

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>

#include "common/fd.h"

namespace pingloom::rdma::soft {

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
    for (int i = 0; i < 1000; ++i) {
      if (::sendto(socket.get(), "x", 1, 0, address, length) != 1) return socket;
      std::array<char, 8> data{};
      std::array<char, 256> control{};
      iovec piece{data.data(), data.size()};
      msghdr message{};
      message.msg_iov = &piece;
      message.msg_iovlen = 1;
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      if (::recvmsg(socket.get(), &message, 0) != 1) return socket;
      if (CMSG_FIRSTHDR(&message) != nullptr) return socket;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return socket;
  }();
  (void)kept;
}

}  // namespace pingloom::rdma::soft
