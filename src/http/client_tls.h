// TLS over a connected socket, for the client. The server has to prove that it is the host in the
// URL. Internal to src/http. One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/time.h"
#include "http/client_socket.h"
#include "http/tls_client.h"
#include "http/url.h"

namespace pingloom::http {

class ClientTls {
 public:
  // Borrows `socket`. `ca` has the certificates to trust; where it is empty, the system's count.
  // `ca_option` is how the user names such a file, for the error.
  static Result<std::unique_ptr<ClientTls>> open(int socket, const Url& url,
                                                 const std::filesystem::path& ca,
                                                 std::string_view ca_option,
                                                 const std::string& entity, Deadline deadline);

  Status send(std::string_view data);
  // Appends the next bytes to `out` and returns their number; 0 after the server's closure alert.
  Result<std::size_t> receive(std::string& out);

 private:
  ClientTls(int socket, std::string_view ca_option, std::string entity, Deadline deadline)
      : socket_(socket), ca_option_(ca_option), entity_(std::move(entity)), deadline_(deadline) {}
  Status prepare(const Url& url, const std::filesystem::path& ca);
  Status handshake();
  // Sends the bytes that TLS has produced.
  Status flush();
  // Handles an operation's `result`; true: the operation has to be retried.
  Result<bool> again(int result);
  std::string reasonOf(int error);

  const int socket_;
  const std::string ca_option_;
  const std::string entity_;
  const Deadline deadline_;
  TlsClientContext context_;
  TlsClient tls_;
  BIO* from_server_ = nullptr;  // tls_ owns both; they are memory, so no write raises SIGPIPE
  BIO* to_server_ = nullptr;
};

}  // namespace pingloom::http
