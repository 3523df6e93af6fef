// Keys that are the tuple of a flow: protocol (1 byte), source and destination address (4 or 16
// each), source and destination port (2 each, big endian), together 13 or 37 bytes. As text:
// tuple:10.0.0.1:49152>10.0.1.1:4791/udp, tuple:[fd00::1]:1>[fd00::2]:4791/udp. The protocol is
// udp, tcp or a number. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"

namespace pingloom::store {

constexpr std::uint8_t kTcpProtocol = 6;
constexpr std::uint8_t kUdpProtocol = 17;

struct TupleKey {
  std::uint8_t protocol = kUdpProtocol;
  SocketAddress source;
  SocketAddress destination;  // of the same family
};

std::vector<std::uint8_t> tupleKey(const TupleKey& tuple);
// Reads what follows "tuple:".
Result<TupleKey> parseTuple(std::string_view text);
// The text of a key, with "tuple:"; "" if it has not the length of one.
std::string tupleText(std::span<const std::uint8_t> key);

}  // namespace pingloom::store
