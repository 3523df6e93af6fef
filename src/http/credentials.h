// What a request's headers carry to be let in by. Any thread; the views are into the headers.
#pragma once

#include <optional>
#include <string_view>

namespace pingloom::http {

// Of "Authorization: Bearer TOKEN" (RFC 6750); nullopt where the header is another or has none.
std::optional<std::string_view> bearerToken(std::string_view authorization);

// Of a Cookie header (RFC 6265, section 4.2.1): the value of the first cookie of that name.
std::optional<std::string_view> cookieNamed(std::string_view cookies, std::string_view name);

}  // namespace pingloom::http
