// A GID: the 128-bit address of an RDMA port. RoCE v2 takes it from an IP address, IPv4 as
// IPv4-mapped IPv6. A plain value in network byte order.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "common/address.h"

namespace pingloom::rdma {

struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  static Gid of(const IpAddress& address) {
    Gid made;
    if (address.isV4()) {
      made.bytes[10] = made.bytes[11] = 0xFF;
      for (std::size_t i = 0; i < 4; ++i) made.bytes[12 + i] = address.bytes()[i];
    } else {
      made.bytes = address.bytes();
    }
    return made;
  }
  IpAddress address() const { return IpAddress::fromBytes16(bytes.data()); }
  bool isZero() const { return *this == Gid{}; }
  auto operator<=>(const Gid&) const = default;
};

struct GidHash {
  std::size_t operator()(const Gid& gid) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(gid.bytes.data()), gid.bytes.size()});
  }
};

}  // namespace pingloom::rdma
