// Blocking HTTP requests, for the command line, the collector and alerts. Any thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::http {

struct ClientResponse {
  unsigned status = 0;
  std::string content_type;
  std::string body;       // at most kMaxClientBody, or ClientRequest::most_answer
  Nanos retry_after = 0;  // from Retry-After if that is a number of seconds; at most 24 h
};

constexpr std::size_t kMaxClientBody = 256 * 1024 * 1024;

// A server, with the credentials for it.
struct Site {
  std::string url;                      // http[s]://HOST[:PORT]; a path prefix is kept
  std::string token;                    // sent with every request; "": no token
  std::filesystem::path ca;             // for https: the certificates to trust; empty: the system's
  std::string ca_option = "--ca FILE";  // how the user sets `ca`, for the error
};

// `path_and_query` begins with '/'. The timeout covers everything from the connect to the last
// byte, but not the resolver. An answer with any status is a result; the error's entity is the URL.
Result<ClientResponse> get(const Site& site, const std::string& path_and_query, Nanos timeout);
Result<ClientResponse> get(const std::string& url, const std::string& path_and_query,
                           Nanos timeout);

// A request that changes something at the server.
struct ClientRequest {
  std::string method = "POST";
  std::string path_and_query;  // begins with '/'
  std::string body = {};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
  std::string entity = {};  // the error's entity instead of the URL, which may contain a secret
  std::size_t most_answer = 64 * 1024;           // the rest of a longer body is not read
  const std::atomic<bool>* cancelled = nullptr;  // ends the request early once it is set
};

// As get(), but the timeout covers the resolver too if the request can be cancelled, and a longer
// answer is cut off, not refused. A redirect is an answer like any other.
Result<ClientResponse> send(const Site& site, const ClientRequest& request, Nanos timeout);

}  // namespace pingloom::http
