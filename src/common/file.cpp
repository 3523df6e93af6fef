#include "common/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace pingloom {

Result<std::string> readFile(const std::filesystem::path& path, std::size_t largest) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return makeErrnoError(path.string(), "cannot open", errno);
  std::string content;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return makeErrnoError(path.string(), "cannot read", errno);
    if (got == 0) return content;
    content.append(chunk.data(), static_cast<std::size_t>(got));
    if (content.size() > largest) {
      return makeError(path.string(), "larger than " + std::to_string(largest) + " bytes");
    }
  }
}

Result<std::string> readPassword(const std::filesystem::path& path) {
  constexpr std::size_t kMaxBytes = 4096;
  auto password = readFile(path, kMaxBytes);
  while (password && !password->empty() && (password->back() == '\n' || password->back() == '\r')) {
    password->pop_back();
  }
  return password;
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
  if (!file.valid()) return makeErrnoError(temporary.string(), "cannot create", errno);
  return AtomicFile(path, temporary, std::move(file));
}

Status AtomicFile::write(std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(file_.get(), content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return makeErrnoError(temporary_.string(), "cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Status AtomicFile::commit() {
  file_.reset();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return makeErrnoError(path_.string(), "cannot replace", errno);
  }
  return {};
}

Status writeFileAtomic(const std::filesystem::path& path, std::string_view content) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (auto status = file->write(content); !status) return status;
  return file->commit();
}

Result<UniqueFd> lockFile(const std::filesystem::path& path) {
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  if (!lock.valid()) return makeErrnoError(path.string(), "cannot open", errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) lock.reset();
  return lock;
}

Status makeDirectories(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), 0750) != 0 && errno != EEXIST && errno != EISDIR) {
      return makeErrnoError(made.string(), "cannot create directory", errno);
    }
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    return makeError(path.string(), "is not a directory");
  }
  return {};
}

}  // namespace pingloom
