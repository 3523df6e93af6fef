#include "agent/crc32c.h"

#include <array>

namespace pingloom::agent {
namespace {

constexpr std::array<std::uint32_t, 256> makeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f63b78U : 0);
    table[byte] = sum;
  }
  return table;
}

constexpr auto kTable = makeTable();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t sum = ~before;
  for (const char byte : bytes) {
    sum = (sum >> 8) ^ kTable[(sum ^ static_cast<std::uint8_t>(byte)) & 0xff];
  }
  return ~sum;
}

}  // namespace pingloom::agent
