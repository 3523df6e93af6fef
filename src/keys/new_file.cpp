#include "keys/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/fd.h"

namespace pingloom::keys {

Status writeNewFile(const std::filesystem::path& file, mode_t mode, std::string_view content) {
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

}  // namespace pingloom::keys
