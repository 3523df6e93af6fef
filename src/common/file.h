// Bounded reads of whole files, and atomic writes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom {

Result<std::string> readFile(const std::filesystem::path& path, std::size_t largest);
// Reads a file of at most 4 KiB that holds a password or a token; line ends at its end do not
// count.
Result<std::string> readPassword(const std::filesystem::path& path);
// Writes a temporary file in the same directory and renames it. The mode is 0640 less the umask.
Status writeFileAtomic(const std::filesystem::path& path, std::string_view content);
// Creates the directory and its parents with mode 0750 less the umask.
Status makeDirectories(const std::filesystem::path& path);

}  // namespace pingloom
