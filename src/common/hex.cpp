#include "common/hex.h"

namespace pingloom {

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

}  // namespace pingloom
