// Reads and changes authorized_keys.yaml; only one program at a time changes it. Any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "common/error.h"
#include "keys/authorized_keys.h"

namespace pingloom::keys {

// Refuses a world-writable file.
Result<AuthorizedKeys> loadAuthorizedKeys(const std::filesystem::path& file);

// Reads the file (with `may_be_missing` a missing file counts as empty), applies `change`, and
// replaces the file atomically. Owner and mode stay; a new file has mode 0644. Concurrent changes
// wait for each other.
Status changeAuthorizedKeys(const std::filesystem::path& file, bool may_be_missing,
                            const std::function<Status(AuthorizedKeys&)>& change);

}  // namespace pingloom::keys
