// Bounded reads of whole files, and atomic writes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/fd.h"

namespace pingloom {

Result<std::string> readFile(const std::filesystem::path& path, std::size_t largest);
// Reads a file of at most 4 KiB that holds a password or a token; line ends at its end do not
// count.
Result<std::string> readPassword(const std::filesystem::path& path);
// Writes a temporary file in the same directory and renames it. The mode is 0640 less the umask.
Status writeFileAtomic(const std::filesystem::path& path, std::string_view content);

// The same for a file that is written piece by piece. Without commit() the file stays as it is. One
// thread.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  Status write(std::string_view content);
  Status commit();

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary, UniqueFd file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  UniqueFd file_;
};

// Takes the lock of that name, which the kernel releases however the process ends. Returns an
// invalid descriptor if another process has it.
Result<UniqueFd> lockFile(const std::filesystem::path& path);
// Creates the directory and its parents with mode 0750 less the umask.
Status makeDirectories(const std::filesystem::path& path);

}  // namespace pingloom
