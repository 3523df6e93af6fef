#include "collector/push/push_credentials.h"

#include <openssl/evp.h>

#include <filesystem>
#include <string_view>

#include "common/secret_file.h"
#include "common/text.h"

namespace pingloom::collector {
namespace {

// The file's bytes; some tokens are signed documents.
constexpr std::size_t kMaxPushSecret = 16 * 1024;

// Receivers have rules of their own for tokens, so a token is any word.
Result<std::string> readPushToken(const std::filesystem::path& file) {
  const auto text = readSecretFile(file, kMaxPushSecret);
  if (!text) return tl::unexpected(text.error());
  const std::string_view token = trimmed(*text);
  if (token.empty() || !isOneWord(token)) {
    return makeError(file.string(), "must contain a token without spaces and nothing else");
  }
  return std::string(token);
}

// A password may contain spaces, but not end with a line's end.
Result<std::string> readPushPassword(const std::filesystem::path& file) {
  auto text = readSecretFile(file, kMaxPushSecret);
  if (!text) return tl::unexpected(text.error());
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty() || hasControls(*text)) {
    return makeError(file.string(), "must contain a password on one line and nothing else");
  }
  return std::move(*text);
}

std::string base64(std::string_view bytes) {
  std::string made(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL also writes a 0
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(made.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  made.resize(static_cast<std::size_t>(size));
  return made;
}

}  // namespace

Result<std::string> pushAuthorization(const PushTarget& target) {
  if (!target.user.empty()) {
    const auto password = readPushPassword(target.password);
    if (!password) return tl::unexpected(password.error());
    return "Basic " + base64(target.user + ":" + *password);
  }
  if (target.token.empty()) return "";
  const auto token = readPushToken(target.token);
  if (!token) return tl::unexpected(token.error());
  return "Bearer " + *token;
}

}  // namespace pingloom::collector
