// A server's URL, taken apart. Internal to src/http. Any thread.
#pragma once

#include <string>

#include "common/error.h"

namespace pingloom::http {

struct Url {
  bool tls = false;       // https
  std::string host;       // without brackets
  std::string port;       // digits
  std::string authority;  // as written, for the Host header
  std::string prefix;     // path, without a '/' at its end
};

// http://HOST[:PORT][/PREFIX], https://...
Result<Url> parseUrl(const std::string& text);

}  // namespace pingloom::http
