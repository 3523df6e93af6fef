#include "agent/system/kept_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "common/log.h"

namespace pingloom::agent::system {
namespace {

constexpr std::size_t kFirstBytes = 4096;

}  // namespace

std::optional<std::string_view> KeptFile::fail() {
  const int error = errno;
  file_.reset();
  if (!std::exchange(logged_, true)) {
    log::warning("system metrics: {} cannot be read, so its metrics are left out: {}",
                 path_.string(), std::error_code(error, std::generic_category()).message());
  }
  return std::nullopt;
}

std::optional<std::string_view> KeptFile::read() {
  if (!file_.valid()) file_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_.valid()) return fail();
  if (memory_.empty()) memory_.resize(kFirstBytes);
  std::size_t size = 0;
  while (size < kMaxBytes) {
    if (size == memory_.size()) memory_.resize(std::min(2 * memory_.size(), kMaxBytes));
    const ssize_t got = ::pread(file_.get(), memory_.data() + size, memory_.size() - size,
                                static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail();
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return std::string_view(memory_.data(), size);
}

}  // namespace pingloom::agent::system
