// Parses the first 40 bytes of a UD receive buffer, which contain the datagram's global route
// header, or with RoCE v2 over IPv4 its IP header in the last 20 bytes.
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
  std::uint32_t flow_label = 0;  // 0 with IPv4, which has none

  bool operator==(const GrhFields&) const = default;
};

// Returns nullopt if the device wrote neither header. The bytes in front of an IPv4 header are
// undefined; if both headers seem valid, the IPv4 header's checksum decides.
std::optional<GrhFields> parseGrh(std::span<const std::uint8_t, kGrhBytes> area);

}  // namespace pingloom::rdma::verbs
