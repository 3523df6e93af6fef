#include "http/tls_context.h"

#include <openssl/ssl.h>

#include <string>
#include <utility>

#include "common/file.h"
#include "common/secret_file.h"

namespace pingloom::http {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

constexpr std::size_t kMaxPem = 256 * 1024;
// The ciphers for TLS 1.2: those with forward secrecy and authenticated encryption. TLS 1.3 has no
// others.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

}  // namespace

Result<std::shared_ptr<TlsContext>> loadTls(const std::filesystem::path& certificate,
                                            const std::filesystem::path& key) {
  const auto chain = readFile(certificate, kMaxPem);
  if (!chain) return tl::unexpected(chain.error());
  const auto secret = readSecretFile(key, kMaxPem);
  if (!secret) return tl::unexpected(secret.error());
  auto made = std::make_shared<TlsContext>();
  SSL_CTX* const native = made->context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(native, kCiphers);
  SSL_CTX_set_options(
      native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  error_code error;
  made->context.use_certificate_chain(boost::asio::buffer(*chain), error);
  if (error) {
    return makeError(certificate.string(), "no certificate in PEM: " + error.message());
  }
  // A daemon cannot ask for a passphrase.
  made->context.set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string(); });
  made->context.use_private_key(boost::asio::buffer(*secret), ssl::context::pem, error);
  if (error) {
    return makeError(
        key.string(),
        "no private key in PEM without a passphrase, or not the key of the certificate: " +
            error.message());
  }
  if (SSL_CTX_check_private_key(native) != 1) {
    return makeError(key.string(), "is not the key of " + certificate.string());
  }
  return made;
}

}  // namespace pingloom::http
