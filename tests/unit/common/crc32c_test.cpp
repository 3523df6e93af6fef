#include "common/crc32c.h"

#include <random>

namespace pingloom::crc32c_test {
namespace {

// The remainder bit by bit, as the definition has it.
std::uint32_t bitwise(std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = ~0U;
  for (const std::uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f63b78U : 0);
  }
  return ~sum;
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(std::string_view("123456789")), 0xe3069283U);  // the check value of CRC-32C
  EXPECT_EQ(crc32c(std::string_view("")), 0U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720, B.4
}

TEST(Crc32c, EveryLengthAndAlignmentEqualsTheDefinition) {
  std::mt19937 random(3);
  std::vector<std::uint8_t> bytes(80);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t length = 0; length <= 64; ++length) {
      const auto part = std::span<const std::uint8_t>(bytes).subspan(begin, length);
      const auto first = part.first(length / 3);
      EXPECT_EQ(crc32c(part), bitwise(part)) << begin << " " << length;
      EXPECT_EQ(crc32c(part.subspan(first.size()), crc32c(first)), bitwise(part));
    }
  }
}

}  // namespace
}  // namespace pingloom::crc32c_test
