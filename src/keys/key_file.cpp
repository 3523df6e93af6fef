#include "keys/key_file.h"

#include <sys/stat.h>

#include <string_view>

#include "common/file.h"
#include "common/secret_file.h"
#include "common/text.h"
#include "keys/new_file.h"

namespace pingloom::keys {
namespace {

// The prefix keeps the two kinds of files from being confused.
constexpr std::string_view kSecretWord = "pingloom-secret-key ";
constexpr std::size_t kMaxFileBytes = 4096;

}  // namespace

Result<net::CurvePair> readSecretKey(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored) && !ignored) {
    return makeError(file.string(),
                     "is not there, the secret key; `pingloom keys generate FILE` makes one");
  }
  const auto content = readSecretFile(file, kMaxFileBytes, SecretOwner::kSelfOrRoot);
  if (!content) return tl::unexpected(content.error());
  const std::string_view text = trimmed(*content);
  const bool secret = text.starts_with(kSecretWord);
  const auto key = net::CurveKey::parse(secret ? text.substr(kSecretWord.size()) : text);
  if (!secret && key) {
    return makeError(file.string(), "holds a public key; name the file of the secret one");
  }
  if (!secret || !key) {
    return makeError(file.string(), "holds no secret key; `pingloom keys generate FILE` makes one");
  }
  return net::CurvePair::of(*key);
}

Status writeKeyPair(const std::filesystem::path& file, const net::CurvePair& pair) {
  std::filesystem::path public_file = file;
  public_file += ".pub";
  struct stat status {};
  if (::lstat(public_file.c_str(), &status) == 0) {
    return makeError(public_file.string(), "is there already; nothing was written");
  }
  const std::string secret = std::string(kSecretWord) + std::string(pair.secret.text()) + "\n";
  if (auto wrote = writeNewFile(file, 0600, secret); !wrote) return wrote;
  return writeNewFile(public_file, 0644, std::string(pair.public_key.text()) + "\n");
}

Result<net::CurveKey> publicKeyOf(const std::string& key_or_file) {
  // A path of 40 characters can look like a key, so an existing file takes precedence.
  const auto content = readFile(key_or_file, kMaxFileBytes);
  if (!content) {
    if (const auto key = net::CurveKey::parse(key_or_file)) return *key;
    return makeError("'" + key_or_file + "'",
                     "neither a public key of 40 characters nor a file that can be read");
  }
  const std::string_view text = trimmed(*content);
  if (text.starts_with(kSecretWord)) {
    return makeError(key_or_file, "holds a secret key; name the file of the public one, FILE.pub");
  }
  const auto key = net::CurveKey::parse(text);
  if (!key) return makeError(key_or_file, "holds no public key");
  return *key;
}

}  // namespace pingloom::keys
