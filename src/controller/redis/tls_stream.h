// TLS over the connected socket of a Redis connection (Debian 12's hiredis has none). The server
// has to prove that it is the host that was connected to. The socket's own timeouts limit every
// call. SIGPIPE has to be ignored. One thread.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "controller/redis/target.h"

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
  template <auto kFree>
  struct Free {
    template <typename T>
    void operator()(T* object) const {
      kFree(object);
    }
  };

  explicit RedisTlsStream(std::string entity) : entity_(std::move(entity)) {}
  Status load(const RedisTls& files);
  Status expect(const std::string& host);
  // Returns the error of an operation that has failed with `result`.
  Error failure(int result) const;

  const std::string entity_;
  std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Free<SSL_free>> tls_;
};

}  // namespace pingloom::controller
