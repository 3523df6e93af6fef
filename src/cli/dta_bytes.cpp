#include "cli/dta_bytes.h"

#include <fmt/format.h>

#include <algorithm>

namespace pingloom::cli {

std::string quotedText(const std::string& hex) {
  if (hex.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  text.resize(text.find_last_not_of('\0') + 1);
  const bool shows =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c <= '~'; });
  return shows && !text.empty() ? fmt::format("  \"{}\"", text) : "";
}

}  // namespace pingloom::cli
