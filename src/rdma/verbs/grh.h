// The first 40 bytes of a UD receive buffer: the global route header the datagram came with, or
// with RoCE v2 over IPv4 its IP header in the last 20 of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rdma/gid.h"

namespace pingloom::rdma::verbs {

constexpr std::size_t kGrhBytes = 40;

struct GrhFields {
  Gid source;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;  // IPv4 has none: 0

  bool operator==(const GrhFields&) const = default;
};

// Empty where it is neither: the device wrote no header. What an IPv4 header leaves unwritten
// before it may be anything; where both would do, the IPv4 header's checksum decides.
std::optional<GrhFields> parseGrh(std::span<const std::uint8_t, kGrhBytes> area);

}  // namespace pingloom::rdma::verbs
