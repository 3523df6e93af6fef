#include "common/json_text.h"

#include <array>
#include <charconv>

#include "common/utf8.h"

namespace pingloom {
namespace {

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
    } else if ((length = utf8SequenceLength(text)) != 0) {
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

}  // namespace pingloom
