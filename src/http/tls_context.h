// A server's certificate and key, and the TLS versions and ciphers that it accepts. Internal to
// src/http: only these files see OpenSSL's context. Immutable once loaded.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>

#include "common/error.h"

namespace pingloom::http {

struct TlsContext {
  boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
};

// Both files are PEM; `certificate` has the whole chain. The error names the file.
Result<std::shared_ptr<TlsContext>> loadTls(const std::filesystem::path& certificate,
                                            const std::filesystem::path& key);

}  // namespace pingloom::http
