// Finds the credentials in a request's headers. Any thread; the views are into the headers.
#pragma once

#include <optional>
#include <string_view>

namespace pingloom::http {

// Returns the token of "Authorization: Bearer TOKEN" (RFC 6750); nullopt for any other header.
std::optional<std::string_view> bearerToken(std::string_view authorization);

// Returns the value of the first cookie with that name in a Cookie header (RFC 6265, section
// 4.2.1).
std::optional<std::string_view> cookieNamed(std::string_view cookies, std::string_view name);

}  // namespace pingloom::http
