// Blocking HTTP requests, for the command line and the collector. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::http {

struct ClientResponse {
  unsigned status = 0;
  std::string content_type;
  std::string body;  // at most kMaxClientBody
};

constexpr std::size_t kMaxClientBody = 256 * 1024 * 1024;

// A server, with the credentials for it.
struct Site {
  std::string url;           // http[s]://HOST[:PORT]; a path prefix is kept
  std::string token;         // sent with every request; "": no token
  std::filesystem::path ca;  // for https: the certificates to trust; empty: the system's
};

struct ClientRequest {
  std::string method = "GET";
  std::string path_and_query;  // begins with '/'
  std::string body = {};       // JSON; a GET has none
};

// The timeout covers everything from the connect to the last byte, but not the resolver. An answer
// with any status is a result; the error's entity is the URL.
Result<ClientResponse> send(const Site& site, const ClientRequest& request, Nanos timeout);

// The same for a GET. `path_and_query` begins with '/'.
Result<ClientResponse> get(const Site& site, const std::string& path_and_query, Nanos timeout);
Result<ClientResponse> get(const std::string& url, const std::string& path_and_query,
                           Nanos timeout);

}  // namespace pingloom::http
