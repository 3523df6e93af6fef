// IP addresses in canonical form. An IPv4-mapped IPv6 address is the IPv4 address it carries.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/error.h"

namespace pingloom {

// A plain value, 17 bytes, ordered: IPv4 before IPv6, then numerically.
class IpAddress {
 public:
  IpAddress() = default;  // 0.0.0.0
  static IpAddress fromV4(std::uint32_t host_order);
  static IpAddress fromBytes16(const std::uint8_t* bytes);  // network order, 16 bytes
  // 4 or 16 bytes in network order, as the control messages carry them.
  static Result<IpAddress> fromWire(std::string_view bytes);
  // "10.0.0.1", "fd00::1"; no brackets, no port, no zone, no host names.
  static Result<IpAddress> parse(std::string_view text);
  static IpAddress fromSockaddr(const sockaddr* address);  // AF_INET or AF_INET6

  bool isV4() const { return family_ == 4; }
  bool isUnspecified() const;
  bool isLoopback() const;
  bool isLinkLocal() const;
  std::uint32_t v4() const;  // in host byte order; REQUIRES: isV4()
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }  // v4: the first four
  std::string wire() const;  // 4 or 16 bytes, network order
  std::string text() const;  // canonical (RFC 5952)
  // Returns the address `step` above this one in the same family, or an error if that overflows.
  Result<IpAddress> plus(std::uint64_t step) const;
  socklen_t toSockaddr(std::uint16_t port, sockaddr_storage& out) const;

  std::strong_ordering operator<=>(const IpAddress&) const = default;
  // The same as the default, but inlined, because it is used for every packet.
  bool operator==(const IpAddress& other) const {
    return std::memcmp(this, &other, sizeof other) == 0;
  }

 private:
  std::uint8_t family_ = 4;
  std::array<std::uint8_t, 16> bytes_{};  // network order; unused bytes stay zero
};
static_assert(std::has_unique_object_representations_v<IpAddress>);

// "10.0.0.1:20710", "[fd00::1]:20710".
struct SocketAddress {
  IpAddress address;
  std::uint16_t port = 0;

  static Result<SocketAddress> parse(std::string_view text);
  static SocketAddress fromSockaddr(const sockaddr* address);
  std::string text() const;
  auto operator<=>(const SocketAddress&) const = default;
};

struct IpAddressHash {
  std::size_t operator()(const IpAddress& address) const {
    const auto& bytes = address.bytes();
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(bytes.data()), address.isV4() ? 4U : 16U});
  }
};

}  // namespace pingloom
