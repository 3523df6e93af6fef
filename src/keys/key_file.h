// Files that hold a CURVE key: FILE the secret one, which its service alone may read, FILE.pub the
// public one, for whoever wants it. docs/keys.md explains both. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "common/error.h"
#include "net/curve_key.h"

namespace pingloom::keys {

// The pair of a secret key file. Refused: a file that others than its owner and group may read,
// that its group may change, or that belongs to somebody else than root and this process' user. It
// is judged by the descriptor that it is read from. The error never shows what is in it.
Result<net::CurvePair> readSecretKey(const std::filesystem::path& file);

// Writes FILE (mode 0600) and FILE.pub (0644). Never over anything that is there.
Status writeKeyPair(const std::filesystem::path& file, const net::CurvePair& pair);

// A public key as it is, or the name of a file that holds nothing else.
Result<net::CurveKey> publicKeyOf(const std::string& key_or_file);

}  // namespace pingloom::keys
