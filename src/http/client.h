// A blocking HTTP GET, for the command line. Any thread.
#pragma once

#include <string>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::http {

struct ClientResponse {
  unsigned status = 0;
  std::string content_type;
  std::string body;  // at most kLargestClientBody
};

constexpr std::size_t kLargestClientBody = 256 * 1024 * 1024;

// `base_url` is http://HOST[:PORT] (a path prefix is kept), `path_and_query` begins with '/'. The
// timeout covers everything from the connect to the last byte, but not the resolver. An answer with
// any status is a result; the error's entity is the URL.
Result<ClientResponse> get(const std::string& base_url, const std::string& path_and_query,
                           Nanos timeout);

}  // namespace pingloom::http
