// The UDP source port that stands for a flow label: equal-cost paths are chosen by it.
#pragma once

#include <cstdint>

namespace pingloom::rdma::soft {

// As mlx5 derives it: 0xC000 and up, the label's 20 bits folded into 14. Upper label bits are
// ignored.
constexpr std::uint16_t sourcePortOf(std::uint32_t flow_label) {
  const std::uint32_t label = flow_label & 0xFFFFF;
  return static_cast<std::uint16_t>(0xC000 | ((label & 0x3FFF) ^ (label >> 14)));
}

}  // namespace pingloom::rdma::soft
