// The certificate and key that a server shows, with what it accepts. Internal to src/http: what
// sees OpenSSL's context. Immutable once loaded.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>

#include "common/error.h"

namespace pingloom::http {

struct TlsContext {
  boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
};

// Both PEM; the certificate with those that lead to its root. The error names the file.
Result<std::shared_ptr<TlsContext>> loadTls(const std::filesystem::path& certificate,
                                            const std::filesystem::path& key);

}  // namespace pingloom::http
