#include "common/hex.h"

namespace pingloom {

namespace {

std::optional<unsigned> hexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return std::nullopt;
}

}  // namespace

std::string hexOf(std::string_view bytes) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += kHexDigits[byte >> 4U];
    digits += kHexDigits[byte & 15U];
  }
  return digits;
}

std::optional<unsigned char> hexByte(char high, char low) {
  const auto first = hexDigit(high);
  const auto second = hexDigit(low);
  if (!first || !second) return std::nullopt;
  return static_cast<unsigned char>(*first << 4U | *second);
}

}  // namespace pingloom
