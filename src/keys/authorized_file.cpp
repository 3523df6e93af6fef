#include "keys/authorized_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "common/fd.h"
#include "common/file.h"

namespace pingloom::keys {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> statusOf(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

Status writeAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(descriptor, content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return makeErrnoError("", "cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fsync(descriptor) != 0) return makeErrnoError("", "cannot write", errno);
  return {};
}

Status replace(const fs::path& file, const std::optional<struct stat>& before,
               std::string_view content) {
  const std::string temporary = file.string() + ".tmp";
  const UniqueFd out(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out.valid()) return makeErrnoError(temporary, "cannot create", errno);
  if (auto wrote = writeAll(out.get(), content); !wrote) {
    ::unlink(temporary.c_str());
    return makeError(temporary, wrote.error().reason);
  }
  // Only root can change a file's owner; its readers must still be able to read the new file.
  struct stat made {};
  const bool kept = !before || ::fchown(out.get(), before->st_uid, before->st_gid) == 0 ||
                    (before->st_uid == ::geteuid() && ::fstat(out.get(), &made) == 0 &&
                     (made.st_gid == before->st_gid || (before->st_mode & S_IROTH) != 0));
  if (!kept || ::fchmod(out.get(), before ? before->st_mode & 07777 : 0644) != 0 ||
      ::rename(temporary.c_str(), file.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return makeErrnoError(file.string(), "cannot replace", error);
  }
  return {};
}

}  // namespace

Result<AuthorizedKeys> loadAuthorizedKeys(const fs::path& file) {
  const auto status = statusOf(file);
  if (status && (status->st_mode & S_IWOTH) != 0) {
    return makeError(file.string(),
                     "everybody may write it; run: chmod o-w '" + file.string() + "'");
  }
  const auto text = readFile(file, AuthorizedKeys::kMaxBytes);
  if (!text) return tl::unexpected(text.error());
  return AuthorizedKeys::parse(*text, file.string());
}

Status changeAuthorizedKeys(const fs::path& file, bool may_be_missing,
                            const std::function<Status(AuthorizedKeys&)>& change) {
  // If it is a symbolic link, its target is replaced.
  std::error_code error;
  const fs::path target = fs::weakly_canonical(fs::absolute(file), error);
  if (error) return makeError(file.string(), error.message());
  const fs::path folder = target.parent_path();
  const UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) return makeErrnoError(folder.string(), "cannot open", errno);
  if (::flock(lock.get(), LOCK_EX) != 0) return makeErrnoError(folder.string(), "flock", errno);
  const auto before = statusOf(target);
  AuthorizedKeys keys;
  if (before || !may_be_missing) {
    auto loaded = loadAuthorizedKeys(target);
    if (!loaded) return tl::unexpected(loaded.error());
    keys = std::move(*loaded);
  }
  if (auto changed = change(keys); !changed) return changed;
  const std::string text = keys.text();
  // A text that the reader would refuse must not replace the one in force.
  if (auto valid = AuthorizedKeys::parse(text, target.string()); !valid) {
    return makeError(target.string(),
                     "is left as it is: it would not be valid: " + valid.error().text());
  }
  return replace(target, before, text);
}

}  // namespace pingloom::keys
