// Parses a server's URL. Any thread.
#pragma once

#include <string>

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

}  // namespace pingloom::http
