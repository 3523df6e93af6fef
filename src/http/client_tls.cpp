#include "http/client_tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "common/address.h"
#include "http/client_socket.h"

namespace pingloom::http {
namespace {

// Returns the newest error of OpenSSL's queue, and empties the queue.
std::string opensslReason() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "unknown error" : reason;
}

}  // namespace

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
  ERR_clear_error();
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (context_ == nullptr) return makeError(entity_, opensslReason());
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  if (ca.empty()) {
    SSL_CTX_set_default_verify_paths(context_.get());
  } else if (SSL_CTX_load_verify_file(context_.get(), ca.c_str()) != 1) {
    return makeError(ca.string(), "has no certificate in PEM: " + opensslReason());
  }
  tls_.reset(SSL_new(context_.get()));
  from_server_ = BIO_new(BIO_s_mem());
  to_server_ = BIO_new(BIO_s_mem());
  if (tls_ == nullptr || from_server_ == nullptr || to_server_ == nullptr) {
    return makeError(entity_, opensslReason());
  }
  SSL_set_bio(tls_.get(), from_server_, to_server_);
  SSL_set_connect_state(tls_.get());
  if (IpAddress::parse(url.host)) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), url.host.c_str()) != 1) {
      return makeError(entity_, opensslReason());
    }
  } else if (SSL_set1_host(tls_.get(), url.host.c_str()) != 1 ||
             SSL_set_tlsext_host_name(tls_.get(), url.host.c_str()) != 1) {
    return makeError(entity_, opensslReason());
  }
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
  const long verified = SSL_get_verify_result(tls_.get());
  if (verified != X509_V_OK) {
    ERR_clear_error();
    return std::string("its certificate is not trusted: ") +
           X509_verify_cert_error_string(verified) + "; name its issuer's with " + ca_option_;
  }
  if (error == SSL_ERROR_SSL &&
      ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER) {
    ERR_clear_error();
    return "does not speak TLS; write http:// if this is intended";
  }
  return "TLS: " + opensslReason();
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
