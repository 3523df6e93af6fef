// Parses a server's URL. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom::http {

struct Url {
  bool tls = false;       // https
  std::string host;       // without brackets
  std::string port;       // digits
  std::string authority;  // as written in the URL, for the Host header
  std::string prefix;     // the path, without a trailing '/'
};

// The form is http://HOST[:PORT][/PREFIX], or the same with https.
Result<Url> parseUrl(const std::string& text);

// Encodes text for a path or a value of a query: all but the unreserved characters of RFC 3986.
std::string percentEncoded(std::string_view text);

}  // namespace pingloom::http
