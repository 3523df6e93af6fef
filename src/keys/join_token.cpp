#include "keys/join_token.h"

#include <array>
#include <boost/crc.hpp>
#include <cstdint>
#include <optional>

#include "common/hex.h"

namespace pingloom::keys {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::optional<std::string> bytesOf(std::string_view hex) {
  std::string made;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto high = kDigits.find(hex[i]);
    const auto low = kDigits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    made += static_cast<char>(high << 4U | low);
  }
  return made;
}

std::string bigEndian(std::uint32_t number) {
  std::string made;
  for (int shift = 24; shift >= 0; shift -= 8) {
    made += static_cast<char>(number >> static_cast<unsigned>(shift));
  }
  return made;
}

std::uint32_t numberIn(std::string_view bytes) {
  std::uint32_t made = 0;
  for (const char c : bytes) made = made << 8U | static_cast<unsigned char>(c);
  return made;
}

// Detects typing errors; it protects nothing.
std::string checksumOf(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return bigEndian(crc.checksum());
}

}  // namespace

std::string JoinToken::text() const {
  const std::string content = controller.wire() + own.secret.wire() +
                              bigEndian(static_cast<std::uint32_t>(expires_utc / kSecond));
  return std::string(kPrefix) + hexOf(content + checksumOf(content));
}

Result<JoinToken> JoinToken::parse(std::string_view text) {
  constexpr std::size_t kKey = net::CurveKey::kBytes;
  constexpr std::size_t kContent = 2 * kKey + 4;
  if (!text.starts_with(kPrefix)) {
    return makeError("", "is no join token: one begins with " + std::string(kPrefix));
  }
  if (text.size() != kTextBytes) {
    return makeError("", "is no whole join token: one has " + std::to_string(kTextBytes) +
                             " characters, not " + std::to_string(text.size()));
  }
  const auto bytes = bytesOf(text.substr(kPrefix.size()));
  if (!bytes ||
      checksumOf(std::string_view(*bytes).substr(0, kContent)) != bytes->substr(kContent)) {
    return makeError("", "is no join token: it was changed on its way here; copy it again");
  }
  const std::string_view content = *bytes;
  const auto controller = net::CurveKey::fromWire(content.substr(0, kKey));
  const auto secret = net::CurveKey::fromWire(content.substr(kKey, kKey));
  return JoinToken{*controller, net::CurvePair::of(*secret),
                   Nanos{numberIn(content.substr(2 * kKey, 4))} * kSecond};
}

std::string tokenId(const net::CurveKey& public_key) {
  constexpr std::size_t kShown = 4;
  return hexOf(public_key.wire().substr(0, kShown));
}

}  // namespace pingloom::keys
