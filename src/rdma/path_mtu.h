// Path MTUs, as InfiniBand and RoCE count them: bytes of payload.
#pragma once

#include <bit>
#include <cstdint>

namespace pingloom::rdma {

// 256, 512, .. 4096.
constexpr bool isPathMtu(std::uint32_t bytes) {
  return bytes >= 256 && bytes <= 4096 && std::has_single_bit(bytes);
}

}  // namespace pingloom::rdma
