#include "keys/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common/fd.h"
#include "common/file.h"
#include "common/secret_file.h"
#include "common/text.h"

namespace pingloom::keys {
namespace {

// The prefix keeps the two kinds of files from being confused.
constexpr std::string_view kSecretWord = "pingloom-secret-key ";
constexpr std::size_t kMaxFileBytes = 4096;

Status writeNew(const std::filesystem::path& file, mode_t mode, std::string_view content) {
  const UniqueFd out(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!out.valid() && errno == EEXIST) {
    return makeError(file.string(), "is there already; nothing was written");
  }
  if (!out.valid()) return makeErrnoError(file.string(), "cannot create", errno);
  const ssize_t wrote = ::write(out.get(), content.data(), content.size());
  const bool done = wrote == static_cast<ssize_t>(content.size()) &&
                    ::fchmod(out.get(), mode) == 0 && ::fsync(out.get()) == 0;
  if (!done) {
    const int error = wrote >= 0 && wrote < static_cast<ssize_t>(content.size()) ? ENOSPC : errno;
    ::unlink(file.c_str());
    return makeErrnoError(file.string(), "cannot write", error);
  }
  return {};
}

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
  if (auto wrote = writeNew(file, 0600, secret); !wrote) return wrote;
  return writeNew(public_file, 0644, std::string(pair.public_key.text()) + "\n");
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
