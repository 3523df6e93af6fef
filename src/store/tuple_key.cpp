#include "store/tuple_key.h"

#include <fmt/format.h>

#include "common/text.h"
#include "store/layout.h"

namespace pingloom::store {
namespace {

constexpr std::size_t kBesidesAddresses = 1 + 2 + 2;

Result<std::uint8_t> parseProtocol(std::string_view text) {
  if (text == "udp") return kUdpProtocol;
  if (text == "tcp") return kTcpProtocol;
  const auto number = parseUnsigned(text, UINT8_MAX);
  if (!number) return makeError("key", "a protocol is udp, tcp or a number up to 255");
  return static_cast<std::uint8_t>(*number);
}

std::string protocolText(std::uint8_t protocol) {
  if (protocol == kUdpProtocol) return "udp";
  return protocol == kTcpProtocol ? "tcp" : std::to_string(protocol);
}

}  // namespace

std::vector<std::uint8_t> tupleKey(const TupleKey& tuple) {
  std::vector<std::uint8_t> key = {tuple.protocol};
  for (const SocketAddress* end : {&tuple.source, &tuple.destination}) {
    const std::string address = end->address.wire();
    key.insert(key.end(), address.begin(), address.end());
  }
  for (const SocketAddress* end : {&tuple.source, &tuple.destination}) {
    key.push_back(static_cast<std::uint8_t>(end->port >> 8));
    key.push_back(static_cast<std::uint8_t>(end->port));
  }
  return key;
}

Result<TupleKey> parseTuple(std::string_view text) {
  const auto malformed =
      makeError("key", "tuple: is written as tuple:10.0.0.1:49152>10.0.1.1:4791/udp");
  const auto arrow = text.find('>');
  const auto slash = text.rfind('/');
  if (arrow == std::string_view::npos || slash == std::string_view::npos || slash < arrow) {
    return malformed;
  }
  const auto source = SocketAddress::parse(text.substr(0, arrow));
  const auto destination = SocketAddress::parse(text.substr(arrow + 1, slash - arrow - 1));
  if (!source || !destination) return malformed;
  if (source->address.isV4() != destination->address.isV4()) {
    return makeError("key", "the addresses of a tuple are both IPv4 or both IPv6");
  }
  const auto protocol = parseProtocol(text.substr(slash + 1));
  if (!protocol) return tl::unexpected(protocol.error());
  return TupleKey{*protocol, *source, *destination};
}

std::string tupleText(std::span<const std::uint8_t> key) {
  const std::size_t each =
      key.size() == 2 * kIpv4Bytes + kBesidesAddresses ? kIpv4Bytes : kIpv6Bytes;
  if (key.size() != 2 * each + kBesidesAddresses) return "";
  const auto end = [&](std::size_t index) {
    const auto address = key.subspan(1 + index * each, each);
    const auto port = key.subspan(1 + 2 * each + index * 2, 2);
    const auto parsed =
        IpAddress::fromWire({reinterpret_cast<const char*>(address.data()), address.size()});
    return SocketAddress{parsed ? *parsed : IpAddress(),
                         static_cast<std::uint16_t>(port[0] << 8 | port[1])};
  };
  return fmt::format("tuple:{}>{}/{}", end(0).text(), end(1).text(), protocolText(key[0]));
}

}  // namespace pingloom::store
