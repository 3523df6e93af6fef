// What every client of TLS needs, over whatever it sends its bytes: the server has to prove that it
// is the host that was meant. One thread for each object.
#pragma once

#include <openssl/ssl.h>

#include <filesystem>
#include <memory>
#include <string>

#include "common/error.h"

namespace pingloom::http {

template <auto kFree>
struct TlsFree {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using TlsClientContext = std::unique_ptr<SSL_CTX, TlsFree<SSL_CTX_free>>;
using TlsClient = std::unique_ptr<SSL, TlsFree<SSL_free>>;

// Returns the newest error of OpenSSL's queue, and empties the queue.
std::string newestTlsError();
// Returns why the server's certificate is not trusted; "" if it is, or if none has been seen.
std::string distrust(const SSL* tls);
// Whether the newest error is that the server does not speak TLS.
bool speaksNoTls();

// `ca` has the certificates to trust in PEM; where it is empty, the system's count.
Result<TlsClientContext> makeTlsClientContext(const std::filesystem::path& ca,
                                              const std::string& entity);
// `host` is a name, or an address without brackets.
Result<TlsClient> makeTlsClient(SSL_CTX* context, const std::string& host,
                                const std::string& entity);

}  // namespace pingloom::http
