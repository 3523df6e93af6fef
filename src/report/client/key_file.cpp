#include "report/client/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "common/fd.h"
#include "wire/report_key_text.h"

namespace pingloom::report::client {

int readKeyFile(const char* path, std::optional<wire::ReportKey>& key) {
  // The open is non-blocking, because opening a FIFO would wait for its writer.
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return errno;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno;
  constexpr mode_t kForbidden = S_IWGRP | S_IXGRP | S_IRWXO;  // as common/secret_file.cpp has it
  if (!S_ISREG(status.st_mode) || (status.st_mode & kForbidden) != 0) return EPERM;
  std::array<char, 64> bytes{};  // a key and white space
  const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
  if (got < 0) return errno;
  std::string_view text(bytes.data(), static_cast<std::size_t>(got));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  key = wire::parseReportKey(text);
  return key ? 0 : EINVAL;
}

}  // namespace pingloom::report::client
