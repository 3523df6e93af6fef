// What was judged at which time, in the ledger's file (ledger_schema.h): a row for each window that
// changed the severity of a pair of its source. Kept as best effort, like events. One thread at a
// time. Bounds: the history's age, and one row for kBytesOfEach of the history's size. The row that
// is in force at the beginning of the history stays, and so does the newest of a source.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"
#include "controller/model/severity_record.h"

namespace pingloom::controller {

class SeverityStore {
 public:
  static constexpr std::int64_t kBytesOfEach = 2000;
  static constexpr Nanos kTrimInterval = kMinute;

  // Adds the table to a file that lacks it. The database outlives the store.
  static Result<SeverityStore> open(Database& database);

  // Writes in the transaction that is open.
  Status write(std::span<const SeverityRecord> records);
  // Does something at most once in kTrimInterval.
  Status trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc);

 private:
  Statement add_;
  Statement remove_old_;
  Statement remove_many_;
  Nanos trimmed_utc_ = 0;
};

}  // namespace pingloom::controller
