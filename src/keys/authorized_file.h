// Reads and changes authorized_keys.yaml, and join.yaml beside it; only one program at a time
// changes them. Any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "common/error.h"
#include "keys/authorized_keys.h"
#include "keys/join_book.h"

namespace pingloom::keys {

// Refuses a world-writable file.
Result<AuthorizedKeys> loadAuthorizedKeys(const std::filesystem::path& file);

// The file beside the list of authorised keys that has the tokens and requests to join.
std::filesystem::path joinFile(const std::filesystem::path& authorized);
// The folder beside the list in which a controller that shares it with others keeps what they last
// had in common (controller/cluster/key_sync.h). A list that is made anew ends it.
std::filesystem::path sharedFolder(const std::filesystem::path& authorized);
// Refuses a world-writable file. A missing file counts as empty.
Result<JoinBook> loadJoinBook(const std::filesystem::path& authorized);

// Reads the list (with `may_be_missing` a missing file counts as empty), applies `change`, and
// replaces the file atomically if that changed it. Owner and mode stay; a new file has mode 0644
// and the owner of its folder, so that a service can go on with what root has made in its folder.
// Concurrent changes wait for each other.
Status changeAuthorizedKeys(const std::filesystem::path& file, bool may_be_missing,
                            const std::function<Status(AuthorizedKeys&)>& change);

// The same for the list and the join book together. The list is replaced first.
Status changeKeyFiles(const std::filesystem::path& authorized, bool may_be_missing,
                      const std::function<Status(AuthorizedKeys&, JoinBook&)>& change);

}  // namespace pingloom::keys
