#include "http/credentials.h"

#include <algorithm>

#include "common/text.h"

namespace pingloom::http {
std::optional<std::string_view> bearerToken(std::string_view authorization) {
  authorization = trimmed(authorization);
  const std::size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos ||
      !equalsIgnoringCase(authorization.substr(0, blank), "bearer")) {
    return std::nullopt;
  }
  return trimmed(authorization.substr(blank));
}

std::optional<std::string_view> cookieNamed(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    const std::string_view pair = trimmed(cookies.substr(0, end));
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return pair.substr(equals + 1);
    }
  }
  return std::nullopt;
}

}  // namespace pingloom::http
