// Writes whole numbers as text, fast enough for millions at a time. Any thread.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace pingloom::controller {

constexpr std::size_t kMaxDecimalBytes = 20;

namespace decimal {

// "0000" to "9999".
inline constexpr auto kFours = [] {
  std::array<char, 40'000> text{};
  for (std::size_t i = 0; i < 10'000; ++i) {
    std::size_t rest = i;
    for (std::size_t digit = 4; digit-- > 0; rest /= 10) {
      text[4 * i + digit] = static_cast<char>('0' + rest % 10);
    }
  }
  return text;
}();

// The four digits of a number below 10,000, the first one in the lowest byte.
inline std::uint64_t fourOf(std::uint32_t number) {
  std::uint32_t text = 0;
  std::memcpy(&text, &kFours[std::size_t{4} * number], 4);
  return text;
}

}  // namespace decimal

// Returns the end of the text. REQUIRES: room for kMaxDecimalBytes, all of which may be written.
// It does not branch on the number of digits, which no processor can predict.
inline char* writeDecimal(char* out, std::uint64_t number) {
  static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");
  constexpr std::uint32_t kFour = 10'000;
  if (number >= std::uint64_t{kFour} * kFour) {
    return std::to_chars(out, out + kMaxDecimalBytes, number).ptr;
  }
  const auto eight = static_cast<std::uint32_t>(number);
  const std::uint64_t text = decimal::fourOf(eight / kFour) | decimal::fourOf(eight % kFour) << 32;
  // The last digit is written even if it is 0.
  constexpr std::uint64_t kZeros = 0x30303030'30303030;
  constexpr std::uint64_t kLastDigit = std::uint64_t{1} << 56;
  const auto leading = static_cast<unsigned>(std::countr_zero((text ^ kZeros) | kLastDigit)) / 8;
  const std::uint64_t digits = text >> 8 * leading;
  std::memcpy(out, &digits, 8);
  return out + 8 - leading;
}

}  // namespace pingloom::controller
