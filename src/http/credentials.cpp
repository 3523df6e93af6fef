#include "http/credentials.h"

#include <algorithm>
#include <cctype>

namespace pingloom::http {
namespace {

std::string_view withoutBlanks(std::string_view text) {
  constexpr std::string_view kWhite = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kWhite), text.size()));
  return text.substr(0, text.find_last_not_of(kWhite) + 1);
}

bool isBearer(std::string_view word) {
  constexpr std::string_view kBearer = "bearer";
  return std::equal(word.begin(), word.end(), kBearer.begin(), kBearer.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

}  // namespace

std::optional<std::string_view> bearerToken(std::string_view authorization) {
  authorization = withoutBlanks(authorization);
  const std::size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos || !isBearer(authorization.substr(0, blank))) {
    return std::nullopt;
  }
  return withoutBlanks(authorization.substr(blank));
}

std::optional<std::string_view> cookieNamed(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    const std::string_view pair = withoutBlanks(cookies.substr(0, end));
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return pair.substr(equals + 1);
    }
  }
  return std::nullopt;
}

}  // namespace pingloom::http
