// Computes CRC-32C (Castagnoli). Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace pingloom::agent {

// Pass the checksum of the preceding bytes as `before` to continue it.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace pingloom::agent
