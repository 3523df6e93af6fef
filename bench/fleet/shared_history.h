// What controllers have committed to a history in PostgreSQL.
#pragma once

#include <cstdint>
#include <string>

#include "common/error.h"

namespace pingloom::bench {

struct SharedHistory {
  std::uint64_t windows = 0;
  std::uint64_t distinct = 0;  // of different batches
};
// `folder` is that of the server's socket; its database is `postgres`. Each batch holds one window.
Result<SharedHistory> readSharedHistory(const std::string& folder);

// An error if the database has tables, which are not the benchmark's own.
Status expectNoTables(const std::string& folder);

// Removes all tables. REQUIRES: no controller runs, and expectNoTables() was true before the first.
Status emptySharedHistory(const std::string& folder);

}  // namespace pingloom::bench
