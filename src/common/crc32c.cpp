#include "common/crc32c.h"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace pingloom {
namespace {

constexpr std::array<std::uint32_t, 256> makeCrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f63b78U : 0);
    table[byte] = sum;
  }
  return table;
}

constexpr auto kCrcTable = makeCrcTable();

std::uint32_t crcByTable(std::span<const std::uint8_t> bytes, std::uint32_t sum) {
  for (const std::uint8_t byte : bytes) sum = (sum >> 8) ^ kCrcTable[(sum ^ byte) & 0xff];
  return sum;
}

#ifdef __x86_64__

__attribute__((target("sse4.2"))) std::uint32_t crcByInstruction(
    std::span<const std::uint8_t> bytes, std::uint32_t sum) {
  std::uint64_t wide = sum;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = _mm_crc32_u64(wide, word);
    bytes = bytes.subspan(sizeof word);
  }
  sum = static_cast<std::uint32_t>(wide);
  for (const std::uint8_t byte : bytes) sum = _mm_crc32_u8(sum, byte);
  return sum;
}

bool hasCrcInstruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}

#else

std::uint32_t crcByInstruction(std::span<const std::uint8_t> bytes, std::uint32_t sum) {
  return crcByTable(bytes, sum);
}

constexpr bool hasCrcInstruction() { return false; }

#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before) {
  return ~(hasCrcInstruction() ? crcByInstruction(bytes, ~before) : crcByTable(bytes, ~before));
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  return crc32c(std::span<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                              bytes.size()),
                before);
}

}  // namespace pingloom
