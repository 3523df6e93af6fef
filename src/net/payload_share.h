// Says which datagrams of a port belong to one of several sockets that share the port: a field of
// the payload chooses the socket. A plain value.
#pragma once

#include <cstdint>

namespace pingloom::net {

// Names 32 bits of a datagram's payload, in network byte order.
struct PayloadField {
  std::uint32_t offset = 0;  // bytes from the beginning of the payload
  std::uint32_t mask = 0;    // the bits that count; the others are ignored
};

// Stands for the datagrams whose field, divided by `sockets`, leaves the remainder `index`. With
// one socket these are all datagrams. REQUIRES: index < sockets.
struct PayloadShare {
  PayloadField field;
  std::uint32_t sockets = 1;
  std::uint32_t index = 0;
};

}  // namespace pingloom::net
