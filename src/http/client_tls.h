// TLS over a connected socket, for the client. The server has to prove that it is the host that was
// asked for. Internal to src/http. One thread.
#pragma once

#include <openssl/ssl.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/time.h"
#include "http/url.h"

namespace pingloom::http {

class ClientTls {
 public:
  // `socket` is borrowed. `ca`: the certificates to trust; empty: the system's.
  static Result<std::unique_ptr<ClientTls>> open(int socket, const Url& url,
                                                 const std::filesystem::path& ca,
                                                 const std::string& entity, Nanos deadline_mono);

  Status send(std::string_view data);
  // One more piece, appended; 0 at the end, which the server has to say.
  Result<std::size_t> receive(std::string& out);

 private:
  template <auto kFree>
  struct Free {
    template <typename T>
    void operator()(T* object) const {
      kFree(object);
    }
  };

  ClientTls(int socket, std::string entity, Nanos deadline_mono)
      : socket_(socket), entity_(std::move(entity)), deadline_mono_(deadline_mono) {}
  Status prepare(const Url& url, const std::filesystem::path& ca);
  Status handshake();
  // Sends what TLS wants to send.
  Status flush();
  // After an operation gave `result`: true where it is to be tried again.
  Result<bool> again(int result);
  std::string reasonOf(int error);

  const int socket_;
  const std::string entity_;
  const Nanos deadline_mono_;
  std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Free<SSL_free>> tls_;
  BIO* from_server_ = nullptr;  // both are tls_'s: memory, so that no SIGPIPE comes of a write
  BIO* to_server_ = nullptr;
};

}  // namespace pingloom::http
