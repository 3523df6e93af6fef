// Certificates for tests, signed by themselves.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace pingloom::http {

inline void writeSecret(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::remove(path);
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0600);
}

// `names`: "IP:127.0.0.1", "DNS:localhost". A new key each time.
inline void makeCertificate(const std::filesystem::path& certificate_file,
                            const std::filesystem::path& key_file, const char* names) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  ASSERT_TRUE(key && made);
  X509* const certificate = made.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
  X509_set_pubkey(certificate, key.get());
  X509_NAME* const subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("pingloom test"), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, names), X509_EXTENSION_free);
  ASSERT_TRUE(extension);
  X509_add_ext(certificate, extension.get(), -1);
  ASSERT_GT(X509_sign(certificate, key.get(), EVP_sha256()), 0);

  writeSecret(key_file, "");
  const std::unique_ptr<FILE, decltype(&fclose)> key_out(fopen(key_file.c_str(), "w"), fclose);
  PEM_write_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  const std::unique_ptr<FILE, decltype(&fclose)> out(fopen(certificate_file.c_str(), "w"), fclose);
  PEM_write_X509(out.get(), certificate);
}

}  // namespace pingloom::http
