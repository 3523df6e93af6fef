// Reads files that contain secrets: keys, tokens.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "common/error.h"

namespace pingloom {

enum class SecretOwner {
  kAnyone,     // every owner is accepted
  kSelfOrRoot  // the owner must be root or this process' user
};

// Reads a regular file that is not accessible to others and not writable by the group. The check
// uses the descriptor from which the file is read. A FIFO is refused without waiting for its
// writer. The error says how to fix the file, and never shows its contents.
Result<std::string> readSecretFile(const std::filesystem::path& path, std::size_t largest,
                                   SecretOwner owner = SecretOwner::kAnyone);

}  // namespace pingloom
