// A raw socket (CAP_NET_RAW) that receives the IPv4 UDP datagrams to one address and port with
// their IP headers and timestamps. It only listens. A UdpSocket has to hold the port, or the kernel
// answers with ICMP, and that socket should be deaf, or both receive the datagrams. Owns the
// descriptor; one thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "net/payload_share.h"

namespace pingloom::net {

class RawUdpSocket {
 public:
  // Receives the port's datagrams that belong to `share`. The first datagrams may be others.
  // REQUIRES: an IPv4 address other than 0.0.0.0.
  static Result<RawUdpSocket> bind(const IpAddress& address, std::uint16_t port,
                                   const PayloadShare& share = {});

  int descriptor() const { return fd_.get(); }
  // Does the same as UdpSocket::newlyDropped().
  std::uint64_t newlyDropped(std::uint32_t count);

 private:
  explicit RawUdpSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::uint32_t dropped_ = 0;
};

}  // namespace pingloom::net
