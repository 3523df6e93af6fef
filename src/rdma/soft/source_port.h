// The UDP source port for a flow label. Switches choose among equal-cost paths by it.
#pragma once

#include <cstdint>

namespace pingloom::rdma::soft {

// Derives the port as mlx5 does: 0xC000 plus the label's 20 bits folded into 14. Higher bits of the
// label are ignored.
constexpr std::uint16_t sourcePortOf(std::uint32_t flow_label) {
  const std::uint32_t label = flow_label & 0xFFFFF;
  return static_cast<std::uint16_t>(0xC000 | ((label & 0x3FFF) ^ (label >> 14)));
}

}  // namespace pingloom::rdma::soft
