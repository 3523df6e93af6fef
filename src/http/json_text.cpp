#include "http/json_text.h"

#include <array>
#include <charconv>

namespace pingloom::http {
namespace {

// Length of the well-formed UTF-8 sequence that `text` begins with, 0 where there is none.
std::size_t utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continued = [&](std::size_t length) {
    if (text.size() < length) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) return false;
    }
    return true;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continued(2) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continued(3)) return 0;
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continued(4)) return 0;
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

void appendControl(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4U];
      out += kHex[c & 0xFU];
  }
}

}  // namespace

void appendJsonString(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text.front();
    } else if (c < 0x20 || c == 0x7F) {
      appendControl(out, c);
    } else if ((length = utf8Length(text)) != 0) {
      out.append(text.substr(0, length));
    } else {
      out += "\xEF\xBF\xBD";
      length = 1;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void appendJsonNumber(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void appendJsonMember(std::string& out, std::string_view key, std::string_view text) {
  appendJsonString(out, key);
  out += ':';
  appendJsonString(out, text);
  out += ',';
}

}  // namespace pingloom::http
