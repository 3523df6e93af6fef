#include "common/host_port.h"

#include <algorithm>

#include "common/address.h"
#include "common/text.h"

namespace pingloom {
namespace {

constexpr std::size_t kMaxHost = 253;  // bytes of a name in DNS

}  // namespace

Result<std::string> parseHostPort(std::string_view text, std::uint16_t default_port) {
  const std::string shown = "'" + std::string(text) + "'";
  std::string_view host = text;
  std::string port = std::to_string(default_port);
  const auto colon = text.rfind(':');
  const auto bracket = text.rfind(']');
  if (colon != std::string_view::npos &&
      (bracket == std::string_view::npos || colon == bracket + 1)) {
    host = text.substr(0, colon);
    const auto number = parseUnsigned(text.substr(colon + 1), 65535);
    if (!number || *number == 0) return makeError(shown, "the port is not a number 1..65535");
    port = std::to_string(*number);
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) {
    const auto address = IpAddress::parse(host.substr(1, host.size() - 2));
    if (!address || address->isV4()) return makeError(shown, "not an IPv6 address in brackets");
  } else if (host.find(':') != std::string_view::npos) {
    return makeError(shown, "write an IPv6 address as [ADDRESS]:PORT");
  }
  const bool sane =
      !host.empty() && host.size() <= kMaxHost && std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
      });
  if (!sane) return makeError(shown, "not HOST:PORT");
  return std::string(host) + ":" + port;
}

bool isUnspecified(std::string_view host_port) {
  std::string_view host = host_port.substr(0, host_port.rfind(':'));
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  return address && address->isUnspecified();
}

}  // namespace pingloom
