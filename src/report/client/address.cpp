#include "report/client/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstdint>
#include <cstring>

#include "wire/report.h"

namespace pingloom::report::client {
namespace {

std::optional<std::uint16_t> parsePort(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<SocketName> parseTranslator(const std::string& text) {
  std::string host = text;
  std::optional<std::uint16_t> port = wire::kReportPort;
  const auto colon = text.rfind(':');
  const bool bracketed = !text.empty() && text.front() == '[';
  const auto bracket = text.rfind(']');
  if (bracketed) {
    if (bracket == std::string::npos) return std::nullopt;
    host = text.substr(1, bracket - 1);
    if (bracket + 1 < text.size()) {
      if (text[bracket + 1] != ':') return std::nullopt;
      port = parsePort(text.substr(bracket + 2));
    }
  } else if (colon != std::string::npos && text.find(':') == colon) {
    host = text.substr(0, colon);
    port = parsePort(text.substr(colon + 1));
  }
  if (!port) return std::nullopt;
  SocketName name;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (!bracketed && inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(*port);
    name.length = sizeof v4;
    std::memcpy(&name.address, &v4, sizeof v4);
    return name;
  }
  if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) return std::nullopt;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(*port);
  name.length = sizeof v6;
  std::memcpy(&name.address, &v6, sizeof v6);
  return name;
}

}  // namespace pingloom::report::client
