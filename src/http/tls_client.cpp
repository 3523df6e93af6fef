#include "http/tls_client.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "common/address.h"

namespace pingloom::http {

std::string newestTlsError() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "unknown error" : reason;
}

std::string distrust(const SSL* tls) {
  const long verified = SSL_get_verify_result(tls);
  if (verified == X509_V_OK) return "";
  return std::string("its certificate is not trusted: ") + X509_verify_cert_error_string(verified);
}

bool speaksNoTls() { return ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER; }

Result<TlsClientContext> makeTlsClientContext(const std::filesystem::path& ca,
                                              const std::string& entity) {
  ERR_clear_error();
  TlsClientContext made(SSL_CTX_new(TLS_client_method()));
  if (made == nullptr) return makeError(entity, newestTlsError());
  SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
  if (ca.empty()) {
    SSL_CTX_set_default_verify_paths(made.get());
  } else if (SSL_CTX_load_verify_file(made.get(), ca.c_str()) != 1) {
    return makeError(ca.string(), "has no certificate in PEM: " + newestTlsError());
  }
  return made;
}

Result<TlsClient> makeTlsClient(SSL_CTX* context, const std::string& host,
                                const std::string& entity) {
  TlsClient made(SSL_new(context));
  if (made == nullptr) return makeError(entity, newestTlsError());
  const bool set =
      IpAddress::parse(host)
          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(made.get()), host.c_str()) == 1
          : SSL_set1_host(made.get(), host.c_str()) == 1 &&
                SSL_set_tlsext_host_name(made.get(), host.c_str()) == 1;
  if (!set) return makeError(entity, newestTlsError());
  return made;
}

}  // namespace pingloom::http
