// Checks text from outside: is it UTF-8 (RFC 3629), and is it free of control characters?
// Everything is inline, because libpingloom-pages checks its texts by the same rules and links
// nothing of pingloom's. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace pingloom {

// Returns the length of the UTF-8 sequence at the start of `text`, or 0 if it is invalid.
// REQUIRES: !text.empty().
constexpr std::size_t utf8SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second > 0x9f;
  const bool too_large = lead == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

// Returns the position of the first byte that is not UTF-8, or npos.
constexpr std::size_t invalidUtf8At(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8SequenceLength(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

// Tells whether the text has a byte that a terminal or a log would act upon: below a blank, or DEL.
constexpr bool hasControls(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

}  // namespace pingloom
