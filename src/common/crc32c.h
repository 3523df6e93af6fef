// Computes CRC-32C (Castagnoli), with the processor's instruction where it has one. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pingloom {

// Pass the checksum of the preceding bytes as `before` to continue it.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before = 0);
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace pingloom
