#include "cli/dta_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/address.h"
#include "common/hex.h"
#include "common/time.h"
#include "store/path_change.h"
#include "store/tuple_key.h"

namespace pingloom::cli {
namespace {

// The bytes that the hexadecimal digits stand for; empty if they are none.
std::string bytesOf(const std::string& hex) {
  if (hex.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string_view viewOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string addressText(std::span<const std::uint8_t> identity) {
  const auto address = IpAddress::fromWire(viewOf(identity));
  return address ? address->text() : hexOf(viewOf(identity));
}

}  // namespace

std::string quotedText(const std::string& hex) {
  std::string text = bytesOf(hex);
  text.resize(text.find_last_not_of('\0') + 1);
  const bool shows =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c <= '~'; });
  return shows && !text.empty() ? fmt::format("  \"{}\"", text) : "";
}

std::string pathChangeText(const std::string& hex) {
  const std::string bytes = bytesOf(hex);
  const auto read =
      store::decodePathChange({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  if (!read) return "";
  const store::PathChange& change = read->change;
  const std::string tuple = store::tupleText(change.key);
  return fmt::format("  {} {} hop {}: {} > {}", formatUtc(read->utc),
                     tuple.empty() ? "hex:" + hexOf(viewOf(change.key)) : tuple, change.hop + 1,
                     addressText(change.before), addressText(change.after));
}

}  // namespace pingloom::cli
