// A raw socket (CAP_NET_RAW) that sees the IPv4 UDP datagrams to one address and port with their IP
// headers, receive timestamps included. It only listens: the port has to be held by a UdpSocket
// (deaf, or both get them), else the kernel answers with ICMP. Owns the descriptor; one thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"

namespace pingloom::net {

class RawUdpSocket {
 public:
  // Datagrams of other ports may be among the first ones. REQUIRES: an IPv4 address, not 0.0.0.0.
  static Result<RawUdpSocket> bind(const IpAddress& address, std::uint16_t port);

  int descriptor() const { return fd_.get(); }
  // As UdpSocket's.
  std::uint64_t newlyDropped(std::uint32_t count);

 private:
  explicit RawUdpSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::uint32_t dropped_ = 0;
};

}  // namespace pingloom::net
