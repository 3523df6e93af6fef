// Translates what an ICMP message says about a sent RoCE packet. Pure function; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "net/udp_socket.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

struct ExpiredPacket {
  std::uint32_t qpn = 0;  // of the endpoint that sent it
  UdExpired what;
};

// Returns nullopt unless a router says that the hop limit of a UD packet ran out. The bytes come
// from outside.
std::optional<ExpiredPacket> expiredPacket(const net::Bounce& bounce);

}  // namespace pingloom::rdma::soft
