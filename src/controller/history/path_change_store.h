// Changes of the paths of flows in the ledger's file (ledger_schema.h). They are kept as best
// effort, like events. One thread at a time. Bounds: the history's age; kMaxRecords records, and
// one for kBytesOfEach of the history's size.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"
#include "controller/model/path_change.h"

namespace pingloom::controller {

class PathChangeStore {
 public:
  static constexpr std::int64_t kMaxRecords = 100'000;
  static constexpr std::int64_t kBytesOfEach = 4000;
  static constexpr Nanos kTrimInterval = kMinute;

  // The database has the ledger's tables and outlives the store.
  static Result<PathChangeStore> open(Database& database);

  // Writes in the transaction that is open.
  Status write(std::span<const PathChange> changes);
  // Does something at most once in kTrimInterval.
  Status trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc);

 private:
  Statement add_;
  Statement remove_old_;
  Statement remove_many_;
  Nanos trimmed_utc_ = 0;
};

struct PathChangeQuery {
  Nanos from_utc = 0;  // [from, until)
  Nanos until_utc = 0;
  std::string probe;  // "": all
  // Changes that may concern flows from or to the address, which includes those of several.
  std::optional<IpAddress> source;
  std::optional<IpAddress> destination;
  std::size_t limit = 0;  // return only the newest
};

struct FoundPathChanges {
  std::vector<PathChange> changes;  // oldest first
  std::uint64_t left_out = 0;       // older ones of that time, beyond the limit
};

// Called on the thread of the History.
Result<FoundPathChanges> readPathChanges(Database& database, const PathChangeQuery& query);

}  // namespace pingloom::controller
