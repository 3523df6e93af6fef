// Files with secrets in them: keys, tokens.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "common/error.h"

namespace pingloom {

// A regular file that others may neither read nor write and that the group may not write, checked
// on the descriptor that is then read. The error says how to mend it.
Result<std::string> readSecretFile(const std::filesystem::path& path, std::size_t largest);

}  // namespace pingloom
