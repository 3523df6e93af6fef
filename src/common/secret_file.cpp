#include "common/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/fd.h"

namespace pingloom {
namespace {

constexpr mode_t kForbidden = S_IWGRP | S_IXGRP | S_IRWXO;

Status checkSecret(const std::string& name, const struct stat& status, SecretOwner owner) {
  if (!S_ISREG(status.st_mode)) return makeError(name, "is not a regular file");
  if ((status.st_mode & kForbidden) != 0) {
    return makeError(
        name,
        fmt::format("holds secrets, but its mode {:04o} lets others at it; run: chmod {} '{}'",
                    status.st_mode & 07777U, (status.st_mode & S_IRGRP) != 0 ? "0640" : "0600",
                    name));
  }
  if (owner == SecretOwner::kSelfOrRoot && status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return makeError(name, fmt::format("holds secrets, but belongs to user {}; run: chown {} '{}'",
                                       status.st_uid, ::geteuid(), name));
  }
  return {};
}

}  // namespace

Result<std::string> readSecretFile(const std::filesystem::path& path, std::size_t largest,
                                   SecretOwner owner) {
  const std::string name = path.string();
  // The open is non-blocking, because opening a FIFO would wait for its writer.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return makeErrnoError(name, "cannot open", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return makeErrnoError(name, "cannot look at", errno);
  if (auto checked = checkSecret(name, status, owner); !checked) {
    return tl::unexpected(checked.error());
  }
  std::string content;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return makeErrnoError(name, "cannot read", errno);
    if (got == 0) return content;
    content.append(chunk.data(), static_cast<std::size_t>(got));
    if (content.size() > largest) {
      return makeError(name, fmt::format("larger than {} bytes", largest));
    }
  }
}

}  // namespace pingloom
