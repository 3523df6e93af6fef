// Files with a CURVE key: FILE holds the secret key, which only its service may read, and FILE.pub
// the public key for everyone. docs/keys.md explains both. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "common/error.h"
#include "net/curve_key.h"

namespace pingloom::keys {

// Reads the key pair of a secret key file. Refuses a file that is readable by others than its owner
// and group, is writable by its group, or belongs to a user other than root and this process' own.
// The check uses the descriptor from which the file is read. The error never shows the contents.
Result<net::CurvePair> readSecretKey(const std::filesystem::path& file);

// Writes FILE (mode 0600) and FILE.pub (0644). Existing files are never overwritten.
Status writeKeyPair(const std::filesystem::path& file, const net::CurvePair& pair);

// Parses a public key, or reads it from a file that contains nothing else.
Result<net::CurveKey> publicKeyOf(const std::string& key_or_file);

}  // namespace pingloom::keys
