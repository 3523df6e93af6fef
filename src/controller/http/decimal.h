// Writes whole numbers as text, fast enough for millions at a time. Any thread.
#pragma once

#include <array>
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

// Writes a number below 10,000. It always writes four bytes, of which the number's digits count.
inline char* writeFour(char* out, std::uint32_t number) {
  const std::size_t digits = std::size_t{1} + (number >= 10) + (number >= 100) + (number >= 1000);
  std::memcpy(out, &kFours[4 * number + 4 - digits], 4);
  return out + digits;
}

}  // namespace decimal

// Returns the end of the text. REQUIRES: room for kMaxDecimalBytes, all of which may be written.
inline char* writeDecimal(char* out, std::uint64_t number) {
  constexpr std::uint64_t kFour = 10'000;
  if (number >= kFour * kFour) return std::to_chars(out, out + kMaxDecimalBytes, number).ptr;
  const auto low = static_cast<std::uint32_t>(number % kFour);
  if (number < kFour) return decimal::writeFour(out, low);
  out = decimal::writeFour(out, static_cast<std::uint32_t>(number / kFour));
  std::memcpy(out, &decimal::kFours[std::size_t{4} * low], 4);
  return out + 4;
}

}  // namespace pingloom::controller
