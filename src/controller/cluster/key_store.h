// The list of authorised keys and the join book that controllers share, in the table pingloom_keys
// (cluster_tables.h), on a connection of its own. One thread, which owns it. A statement waits
// kStatementLimitMs at most, but a COMMIT waits for a synchronous replica for as long
// as the server does; otherwise the limits of sql/postgres.h hold.
#pragma once

#include <optional>
#include <string>

#include "common/error.h"
#include "controller/history/fence.h"
#include "controller/history/sql/database.h"
#include "controller/history/sql/place.h"
#include "keys/key_merge.h"

namespace pingloom::controller {

class KeyStore {
 public:
  // Returns an error if it is the database of another installation than this one.
  static Result<KeyStore> open(const HistoryPlace& place, const std::string& installation);

  struct Stored {
    std::string id;  // another one with each change; "" if nobody has written yet
    keys::KeySet keys;
  };
  // Returns nullopt if the id is still `seen`.
  Result<std::optional<Stored>> read(const std::string& seen);
  // Writes if the id is still `seen`, and returns the new one; nullopt if it is not.
  Result<std::optional<std::string>> write(const std::string& seen, const keys::KeySet& keys,
                                           Fence::Held held);
  bool lost() const { return database_.lost(); }

 private:
  explicit KeyStore(Database database) : database_(std::move(database)) {}

  Database database_;  // declared before its statements, and so destroyed after them
  Statement read_;
  Statement write_;
};

}  // namespace pingloom::controller
