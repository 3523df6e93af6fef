// The RDMA endpoints of the whole mesh. Every agent registers its own, and the controller sends the
// table to all. Plain values; a table is immutable once shared.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "common/address.h"
#include "common/vocabulary.h"

namespace pingloom::plan {

struct Endpoint {
  IpAddress address;                   // the host's address in the pinglist
  std::array<std::uint8_t, 16> gid{};  // in network byte order
  std::uint16_t lid = 0;               // used by InfiniBand; 0 with RoCE
  std::uint32_t qpn = 0;               // 24 bits
  std::uint32_t q_key = 0;             // bit 31 is clear
  std::string device;                  // "mlx5_0", "soft"
  ClockSource clock = ClockSource::kSoftware;
  std::uint64_t incarnation = 0;  // the agent's incarnation
  std::uint32_t mtu = 0;          // the longest message it takes, in bytes; 0 if unknown

  bool operator==(const Endpoint&) const = default;
};

using EndpointTable = std::unordered_map<IpAddress, Endpoint, IpAddressHash>;

}  // namespace pingloom::plan
