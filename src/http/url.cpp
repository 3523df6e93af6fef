#include "http/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/text.h"

namespace pingloom::http {

Result<Url> parseUrl(const std::string& text) {
  Url url;
  url.tls = text.starts_with("https://");
  if (!url.tls && !text.starts_with("http://")) {
    return makeError(text, "must begin with http:// or https://");
  }
  std::string_view rest = std::string_view(text).substr(text.find("//") + 2);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.authority = rest.substr(0, slash);
  url.prefix = rest.substr(slash);
  while (!url.prefix.empty() && url.prefix.back() == '/') url.prefix.pop_back();

  std::string_view authority = url.authority;
  std::size_t host_end = std::min(authority.find(':'), authority.size());
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return makeError(text, "has a '[' without a ']'");
    url.host = authority.substr(1, bracket - 1);
    host_end = bracket + 1;
  } else {
    url.host = authority.substr(0, host_end);
  }
  authority.remove_prefix(host_end);
  url.port = authority.empty() ? (url.tls ? "443" : "80") : std::string(authority.substr(1));
  if (url.host.empty()) return makeError(text, "names no host");
  if ((!authority.empty() && authority.front() != ':') || !parseUnsigned(url.port, 65535)) {
    return makeError(text, "the port is not a number up to 65535");
  }
  return url;
}

std::string percentEncoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace pingloom::http
