#include "controller/redis/slots.h"

#include <array>
#include <cstdint>

namespace pingloom::controller {
namespace {

// CRC-16 of XMODEM, as Redis takes it: polynomial 0x1021, initial value 0, not reflected.
constexpr std::array<std::uint16_t, 256> makeCrcTable() {
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = static_cast<std::uint32_t>(byte) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021U : 0U);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

constexpr auto kCrcTable = makeCrcTable();

}  // namespace

std::size_t slotOf(std::string_view key) {
  std::uint16_t crc = 0;
  for (const char byte : key) {
    const auto index = static_cast<std::uint8_t>((crc >> 8) ^ static_cast<std::uint8_t>(byte));
    crc = static_cast<std::uint16_t>(static_cast<unsigned>(crc) << 8 ^ kCrcTable[index]);
  }
  return crc % kRedisSlots;
}

}  // namespace pingloom::controller
