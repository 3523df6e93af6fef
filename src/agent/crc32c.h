// CRC-32C (Castagnoli). Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace pingloom::agent {

// `before` continues the checksum of the bytes before.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace pingloom::agent
