// Files with secrets in them: keys, tokens.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "common/error.h"

namespace pingloom {

enum class SecretOwner {
  kAnyone,     // whoever may read it
  kSelfOrRoot  // root, or this process' user
};

// A regular file that others may neither read nor write and that the group may not write, checked
// on the descriptor that is then read. A FIFO is refused, not waited for. The error says how to
// mend it, and never what is in the file.
Result<std::string> readSecretFile(const std::filesystem::path& path, std::size_t largest,
                                   SecretOwner owner = SecretOwner::kAnyone);

}  // namespace pingloom
