// Writes files that must not be there yet, such as keys. Any thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "common/error.h"

namespace pingloom::keys {

// Writes and syncs the file. An existing file is not overwritten, and one that could not be written
// as a whole is removed.
Status writeNewFile(const std::filesystem::path& file, mode_t mode, std::string_view content);

}  // namespace pingloom::keys
