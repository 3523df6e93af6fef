#include "controller/redis/tls_stream.h"

#include <openssl/err.h>

#include <cerrno>

namespace pingloom::controller {

Result<std::unique_ptr<RedisTlsStream>> RedisTlsStream::open(int socket, const RedisTls& files,
                                                             const std::string& host,
                                                             std::string entity) {
  std::unique_ptr<RedisTlsStream> made(new RedisTlsStream(std::move(entity)));
  auto context = http::makeTlsClientContext(files.ca, made->entity_);
  if (!context) return tl::unexpected(context.error());
  made->context_ = std::move(*context);
  if (auto status = made->load(files); !status) return tl::unexpected(status.error());
  auto tls = http::makeTlsClient(made->context_.get(), host, made->entity_);
  if (!tls) return tl::unexpected(tls.error());
  made->tls_ = std::move(*tls);
  if (SSL_set_fd(made->tls_.get(), socket) != 1)
    return makeError(made->entity_, http::newestTlsError());
  ERR_clear_error();
  const int result = SSL_connect(made->tls_.get());
  if (result != 1) return tl::unexpected(made->failure(result));
  return made;
}

Status RedisTlsStream::load(const RedisTls& files) {
  if (files.certificate.empty()) return {};
  SSL_CTX* context = context_.get();
  // A daemon cannot ask for a passphrase.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return makeError(files.certificate.native(),
                     "has no certificate in PEM: " + http::newestTlsError());
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return makeError(files.key.native(), "is not the certificate's key: " + http::newestTlsError());
  }
  return {};
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
  if (std::string why = http::distrust(tls_.get()); !why.empty()) return because(std::move(why));
  if (http::speaksNoTls()) return because("does not speak TLS");
  return because("TLS: " + http::newestTlsError());
}

Status RedisTlsStream::send(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t sent = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &sent);
    if (result != 1) return tl::unexpected(sendFailure(result));
    bytes.remove_prefix(sent);
  }
  return {};
}

Error RedisTlsStream::sendFailure(int result) {
  const int saved = errno;
  Error sending = failure(result);
  if (saved != EPIPE && saved != ECONNRESET) return sending;
  char byte = 0;
  ERR_clear_error();
  const int received = SSL_read(tls_.get(), &byte, 1);
  const bool alert = received <= 0 && SSL_get_error(tls_.get(), received) == SSL_ERROR_SSL;
  return alert ? failure(received) : sending;
}

Result<std::size_t> RedisTlsStream::receive(std::span<char> out) {
  std::size_t got = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(tls_.get(), out.data(), out.size(), &got);
  if (result != 1) return tl::unexpected(failure(result));
  return got;
}

}  // namespace pingloom::controller
