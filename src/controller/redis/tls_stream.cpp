#include "controller/redis/tls_stream.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <cerrno>

#include "common/address.h"

namespace pingloom::controller {
namespace {

// Returns the newest error of OpenSSL's queue, and empties the queue.
std::string newestTlsError() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "unknown error" : reason;
}

}  // namespace

Result<std::unique_ptr<RedisTlsStream>> RedisTlsStream::open(int socket, const RedisTls& files,
                                                             const std::string& host,
                                                             std::string entity) {
  std::unique_ptr<RedisTlsStream> made(new RedisTlsStream(std::move(entity)));
  if (auto status = made->load(files); !status) return tl::unexpected(status.error());
  if (auto status = made->expect(host); !status) return tl::unexpected(status.error());
  if (SSL_set_fd(made->tls_.get(), socket) != 1) return makeError(made->entity_, newestTlsError());
  ERR_clear_error();
  const int result = SSL_connect(made->tls_.get());
  if (result != 1) return tl::unexpected(made->failure(result));
  return made;
}

Status RedisTlsStream::load(const RedisTls& files) {
  ERR_clear_error();
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (context_ == nullptr) return makeError(entity_, newestTlsError());
  SSL_CTX* context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A daemon cannot ask for a passphrase.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (files.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (SSL_CTX_load_verify_file(context, files.ca.c_str()) != 1) {
    return makeError(files.ca.native(), "has no certificate in PEM: " + newestTlsError());
  }
  if (files.certificate.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return makeError(files.certificate.native(), "has no certificate in PEM: " + newestTlsError());
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return makeError(files.key.native(), "is not the certificate's key: " + newestTlsError());
  }
  return {};
}

Status RedisTlsStream::expect(const std::string& host) {
  tls_.reset(SSL_new(context_.get()));
  if (tls_ == nullptr) return makeError(entity_, newestTlsError());
  const bool known =
      IpAddress::parse(host)
          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), host.c_str()) == 1
          : SSL_set1_host(tls_.get(), host.c_str()) == 1 &&
                SSL_set_tlsext_host_name(tls_.get(), host.c_str()) == 1;
  return known ? Status() : makeError(entity_, newestTlsError());
}

Error RedisTlsStream::failure(int result) const {
  const int saved = errno;
  const int error = SSL_get_error(tls_.get(), result);
  const auto because = [this](std::string text) {
    ERR_clear_error();
    return Error{entity_, std::move(text)};
  };
  // The socket blocks, so that only its timeout makes an operation incomplete.
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return because("timed out");
  if (error == SSL_ERROR_ZERO_RETURN) return because("Server closed the connection");
  if (error == SSL_ERROR_SYSCALL) return makeErrnoError(entity_, "TLS", saved).value();
  const long verified = SSL_get_verify_result(tls_.get());
  if (verified != X509_V_OK) {
    return because(std::string("its certificate is not trusted: ") +
                   X509_verify_cert_error_string(verified));
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER) {
    return because("does not speak TLS");
  }
  return because("TLS: " + newestTlsError());
}

Status RedisTlsStream::send(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t sent = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &sent);
    if (result != 1) return tl::unexpected(failure(result));
    bytes.remove_prefix(sent);
  }
  return {};
}

Result<std::size_t> RedisTlsStream::receive(std::span<char> out) {
  std::size_t got = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(tls_.get(), out.data(), out.size(), &got);
  if (result != 1) return tl::unexpected(failure(result));
  return got;
}

}  // namespace pingloom::controller
