#include "keys/authorized_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

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

// Gives the new file `out` the owner and mode of the one that it replaces, or those of a new one.
// Only root can change an owner; the file's readers must still be able to read the new one.
bool takeOwner(const fs::path& file, const std::optional<struct stat>& before, int out) {
  const auto folder = before ? std::nullopt : statusOf(file.parent_path());
  struct stat made {};
  if (!before) {
    // It fails for everybody but root, whose file would not be the service's.
    if (folder) (void)!::fchown(out, folder->st_uid, folder->st_gid);
    return ::fchmod(out, 0644) == 0;
  }
  const bool kept =
      ::fchown(out, before->st_uid, before->st_gid) == 0 || (before->st_mode & S_IROTH) != 0 ||
      (before->st_uid == ::geteuid() && ::fstat(out, &made) == 0 && made.st_gid == before->st_gid);
  return kept && ::fchmod(out, before->st_mode & 07777) == 0;
}

Status replace(const fs::path& file, std::string_view content) {
  const auto before = statusOf(file);
  const std::string temporary = file.string() + ".tmp";
  // What an earlier run left there, or somebody else put there, is not written to.
  ::unlink(temporary.c_str());
  const UniqueFd out(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out.valid()) return makeErrnoError(temporary, "cannot create", errno);
  if (auto wrote = writeAll(out.get(), content); !wrote) {
    ::unlink(temporary.c_str());
    return makeError(temporary, wrote.error().reason);
  }
  if (!takeOwner(file, before, out.get()) || ::rename(temporary.c_str(), file.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return makeErrnoError(file.string(), "cannot replace", error);
  }
  return {};
}

// Reads a file of keys, which not everybody may write.
Result<std::string> readGuarded(const fs::path& file, std::size_t most) {
  const auto status = statusOf(file);
  if (status && (status->st_mode & S_IWOTH) != 0) {
    return makeError(file.string(),
                     "everybody may write it; run: chmod o-w '" + file.string() + "'");
  }
  return readFile(file, most);
}

// Replaces the file unless it has this text already. A text that the reader would refuse must not
// replace the one in force.
template <typename Value>
Status replaceValid(const fs::path& file, const Value& value, const std::string& before) {
  const std::string text = value.text();
  if (text == before) return {};
  if (auto valid = Value::parse(text, file.string()); !valid) {
    return makeError(file.string(),
                     "is left as it is: it would not be valid: " + valid.error().text());
  }
  return replace(file, text);
}

// If it is a symbolic link, its target is replaced.
Result<fs::path> targetOf(const fs::path& file) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(file), error);
  if (error) return makeError(file.string(), error.message());
  return target;
}

Result<UniqueFd> lockFolder(const fs::path& folder) {
  UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) return makeErrnoError(folder.string(), "cannot open", errno);
  if (::flock(lock.get(), LOCK_EX) != 0) return makeErrnoError(folder.string(), "flock", errno);
  return lock;
}

// REQUIRES: the folder is locked.
Status changeLocked(const fs::path& target, bool may_be_missing,
                    const std::function<Status(AuthorizedKeys&)>& change) {
  AuthorizedKeys keys;
  std::string before;
  const bool is_new = !statusOf(target);
  if (!is_new || !may_be_missing) {
    auto loaded = loadAuthorizedKeys(target);
    if (!loaded) return tl::unexpected(loaded.error());
    keys = std::move(*loaded);
    before = keys.text();
  }
  if (auto changed = change(keys); !changed) return changed;
  if (is_new) {
    // Otherwise everything that is not in the new list would count as revoked at all controllers.
    std::error_code failed;
    fs::remove_all(sharedFolder(target), failed);
    if (failed) return makeError(sharedFolder(target).string(), failed.message());
  }
  return replaceValid(target, keys, before);
}

}  // namespace

Result<AuthorizedKeys> loadAuthorizedKeys(const fs::path& file) {
  const auto text = readGuarded(file, AuthorizedKeys::kMaxBytes);
  if (!text) return tl::unexpected(text.error());
  return AuthorizedKeys::parse(*text, file.string());
}

fs::path joinFile(const fs::path& authorized) { return authorized.parent_path() / "join.yaml"; }

fs::path sharedFolder(const fs::path& authorized) {
  return authorized.parent_path() / "shared_keys";
}

Result<JoinBook> loadJoinBook(const fs::path& authorized) {
  const fs::path file = joinFile(authorized);
  if (!statusOf(file) && errno == ENOENT) return JoinBook();
  const auto text = readGuarded(file, JoinBook::kMaxBytes);
  if (!text) return tl::unexpected(text.error());
  return JoinBook::parse(*text, file.string());
}

Status changeAuthorizedKeys(const fs::path& file, bool may_be_missing,
                            const std::function<Status(AuthorizedKeys&)>& change) {
  const auto target = targetOf(file);
  if (!target) return tl::unexpected(target.error());
  const auto lock = lockFolder(target->parent_path());
  if (!lock) return tl::unexpected(lock.error());
  return changeLocked(*target, may_be_missing, change);
}

Status changeKeyFiles(const fs::path& authorized, bool may_be_missing,
                      const std::function<Status(AuthorizedKeys&, JoinBook&)>& change) {
  const auto target = targetOf(authorized);
  if (!target) return tl::unexpected(target.error());
  const auto lock = lockFolder(target->parent_path());
  if (!lock) return tl::unexpected(lock.error());
  auto book = loadJoinBook(authorized);
  if (!book) return tl::unexpected(book.error());
  const std::string before = book->text();
  auto changed = changeLocked(*target, may_be_missing,
                              [&](AuthorizedKeys& keys) { return change(keys, *book); });
  if (!changed) return changed;
  return replaceValid(joinFile(authorized), *book, before);
}

}  // namespace pingloom::keys
