// Whole-file reads with a bound, and writes that are seen whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom {

Result<std::string> readFile(const std::filesystem::path& path, std::size_t largest);
// Temporary file beside it, then rename. Mode 0640 less the umask.
Status writeFileAtomic(const std::filesystem::path& path, std::string_view content);
// Creates the directory and its parents, mode 0750 less the umask.
Status makeDirectories(const std::filesystem::path& path);

}  // namespace pingloom
