// The list of authorised keys and the join book that controllers share, in the table pingloom_keys
// (cluster_tables.h), on a connection of its own. One thread, which owns it. Waits are bounded by
// LeaseStore::kStatementLimitMs for a statement, and by the limits of sql/postgres.h.
#pragma once

#include <cstdint>
#include <optional>

#include "common/error.h"
#include "controller/history/fence.h"
#include "controller/history/sql/database.h"
#include "controller/history/sql/place.h"
#include "keys/key_merge.h"

namespace pingloom::controller {

class KeyStore {
 public:
  static Result<KeyStore> open(const HistoryPlace& place);

  struct Stored {
    std::int64_t version = 0;  // 0: nobody has written yet
    keys::KeySet keys;
  };
  // Returns nullopt if the version is still `seen`.
  Result<std::optional<Stored>> read(std::int64_t seen);
  // Writes version `next` if the version is still `seen`, and returns false if it is not.
  Result<bool> write(std::int64_t seen, std::int64_t next, const keys::KeySet& keys,
                     Fence::Held held);
  bool lost() const { return database_.lost(); }

 private:
  explicit KeyStore(Database database) : database_(std::move(database)) {}

  Database database_;  // declared before its statements, and so destroyed after them
  Statement read_;
  Statement write_;
};

}  // namespace pingloom::controller
