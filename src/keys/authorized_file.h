// authorized_keys.yaml on disk: read, and changed by one program at a time. Any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "common/error.h"
#include "keys/authorized_keys.h"

namespace pingloom::keys {

// Refused: a file that everybody may write.
Result<AuthorizedKeys> loadAuthorizedKeys(const std::filesystem::path& file);

// Reads the file, or nothing where there is none and `may_be_missing`, lets `change` at it, and
// replaces it whole: it keeps its owner and mode (0644 where it is new). Others who do the same at
// the same time wait for each other.
Status changeAuthorizedKeys(const std::filesystem::path& file, bool may_be_missing,
                            const std::function<Status(AuthorizedKeys&)>& change);

}  // namespace pingloom::keys
