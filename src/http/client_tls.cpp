#include "http/client_tls.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <utility>

#include "http/client_socket.h"

namespace pingloom::http {

Result<std::unique_ptr<ClientTls>> ClientTls::open(int socket, const Url& url,
                                                   const std::filesystem::path& ca,
                                                   std::string_view ca_option,
                                                   const std::string& entity, Deadline deadline) {
  std::unique_ptr<ClientTls> made(new ClientTls(socket, ca_option, entity, deadline));
  if (auto status = made->prepare(url, ca); !status) return tl::unexpected(status.error());
  if (auto status = made->handshake(); !status) return tl::unexpected(status.error());
  return made;
}

Status ClientTls::prepare(const Url& url, const std::filesystem::path& ca) {
  auto context = makeTlsClientContext(ca, entity_);
  if (!context) return tl::unexpected(context.error());
  context_ = std::move(*context);
  auto tls = makeTlsClient(context_.get(), url.host, entity_);
  if (!tls) return tl::unexpected(tls.error());
  tls_ = std::move(*tls);
  from_server_ = BIO_new(BIO_s_mem());
  to_server_ = BIO_new(BIO_s_mem());
  if (from_server_ == nullptr || to_server_ == nullptr) {
    return makeError(entity_, newestTlsError());
  }
  SSL_set_bio(tls_.get(), from_server_, to_server_);
  SSL_set_connect_state(tls_.get());
  return {};
}

Status ClientTls::flush() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(to_server_, &data);
  if (size <= 0) return {};
  Status sent = sendAll(socket_, {data, static_cast<std::size_t>(size)}, entity_, deadline_);
  BIO_reset(to_server_);
  return sent;
}

std::string ClientTls::reasonOf(int error) {
  if (const std::string why = distrust(tls_.get()); !why.empty()) {
    ERR_clear_error();
    return why + "; name its issuer's with " + ca_option_;
  }
  if (error == SSL_ERROR_SSL && speaksNoTls()) {
    ERR_clear_error();
    return "does not speak TLS; write http:// if this is intended";
  }
  return "TLS: " + newestTlsError();
}

Result<bool> ClientTls::again(int result) {
  const int error = SSL_get_error(tls_.get(), result);
  std::string reason;
  if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE && result <= 0 &&
      error != SSL_ERROR_ZERO_RETURN) {
    reason = reasonOf(error);
  }
  // After a failure too, so that the server receives the alert.
  const Status flushed = flush();
  if (!reason.empty()) return makeError(entity_, reason);
  if (!flushed) return tl::unexpected(flushed.error());
  if (error != SSL_ERROR_WANT_READ) return error == SSL_ERROR_WANT_WRITE;
  std::string received;
  const auto got = receiveSome(socket_, received, entity_, deadline_);
  if (!got) return tl::unexpected(got.error());
  if (*got == 0) return makeError(entity_, "closed the connection without TLS's closure alert");
  BIO_write(from_server_, received.data(), static_cast<int>(received.size()));
  return true;
}

Status ClientTls::handshake() {
  for (;;) {
    ERR_clear_error();
    const auto more = again(SSL_do_handshake(tls_.get()));
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
  }
}

Status ClientTls::send(std::string_view data) {
  for (;;) {
    ERR_clear_error();
    const auto more = again(SSL_write(tls_.get(), data.data(), static_cast<int>(data.size())));
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
  }
}

Result<std::size_t> ClientTls::receive(std::string& out) {
  std::array<char, 16384> piece;
  for (;;) {
    ERR_clear_error();
    const int got = SSL_read(tls_.get(), piece.data(), static_cast<int>(piece.size()));
    const auto more = again(got);
    if (!more) return tl::unexpected(more.error());
    if (*more) continue;
    out.append(piece.data(), static_cast<std::size_t>(std::max(got, 0)));
    return static_cast<std::size_t>(std::max(got, 0));
  }
}

}  // namespace pingloom::http
