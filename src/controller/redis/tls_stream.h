// TLS over the connected socket of a Redis connection (Debian 12's hiredis has none). The server
// has to prove that it is the host that was connected to. The socket's own timeouts limit every
// call. SIGPIPE has to be ignored. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "controller/redis/target.h"
#include "http/tls_client.h"

namespace pingloom::controller {

class RedisTlsStream {
 public:
  // Borrows `socket`. `host` is a name, or an address without brackets.
  static Result<std::unique_ptr<RedisTlsStream>> open(int socket, const RedisTls& files,
                                                      const std::string& host, std::string entity);

  Status send(std::string_view bytes);
  // Returns the number of bytes, which is at least one.
  Result<std::size_t> receive(std::span<char> out);

 private:
  explicit RedisTlsStream(std::string entity) : entity_(std::move(entity)) {}
  // Loads the client's own certificate.
  Status load(const RedisTls& files);
  // Returns the error of an operation that has failed with `result`.
  Error failure(int result) const;
  // Returns the server's alert instead, if it has sent one before it closed the connection: a
  // server of TLS 1.3 looks at the client's certificate after SSL_connect() has succeeded.
  Error sendFailure(int result);

  const std::string entity_;
  http::TlsClientContext context_;
  http::TlsClient tls_;
};

}  // namespace pingloom::controller
