// Lines, words and numbers of the kernel's text files. Pure, and they allocate nothing.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pingloom::agent::system {

// Calls `use` for each line, without its end. Returns false if the last line does not end: it was
// cut, so its last number may be, and it is not used.
template <typename Use>
bool forEachLine(std::string_view text, Use use) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return false;
    use(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return true;
}

// Takes the next word off the text; "" at its end.
inline std::string_view takeWord(std::string_view& rest) {
  constexpr std::string_view kBlanks = " \t";
  const auto begin = rest.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(begin);
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

// Reads the whole word; digits only, up to 2^64 - 1.
inline std::optional<std::uint64_t> number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Reads a decimal number without a sign or an exponent, such as 0.25.
inline std::optional<double> decimal(std::string_view word) {
  if (word.empty() || word.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

inline std::optional<std::uint64_t> takeNumber(std::string_view& rest) {
  return number(takeWord(rest));
}

}  // namespace pingloom::agent::system
