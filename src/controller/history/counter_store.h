// By how much counters of NICs and ports grew, minute by minute, in the ledger's file
// (ledger_schema.h). They are kept as best effort, like events. One thread at a time. Bounds: the
// history's age; kMaxRecords records of errors and as many of other counters, and one record of
// each kind for kBytesOfEach of the history's size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"
#include "controller/model/host_counters.h"

namespace pingloom::controller {

class CounterStore {
 public:
  static constexpr std::int64_t kMaxRecords = 200'000;
  static constexpr std::int64_t kBytesOfEach = 2000;
  static constexpr Nanos kTrimInterval = kMinute;

  // Adds the table to a file that an earlier version made. The database outlives the store.
  static Result<CounterStore> open(Database& database);

  // Writes in the transaction that is open.
  Status write(std::span<const CounterRecord> records);
  // Does something at most once in kTrimInterval.
  Status trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc);

 private:
  Statement add_;
  Statement remove_old_;
  Statement remove_many_;
  Nanos trimmed_utc_ = 0;
};

// A record as it was kept. Its counter may be one that this version does not know.
struct PastCounter {
  Nanos minute_utc = 0;
  std::string device;
  std::uint32_t port = 0;
  std::string counter;
  CounterKind kind = CounterKind::kError;
  std::uint64_t total = 0;
  std::uint64_t moved = 0;
};

// Selects the records of a host in the minutes that start in [from, until), the newest first.
struct CounterQuery {
  std::string host;
  Nanos from_utc = 0;
  Nanos until_utc = 0;
  std::size_t limit = 0;
};
// Called on the thread of the History.
Result<std::vector<PastCounter>> readCounters(Database& database, const CounterQuery& query);

}  // namespace pingloom::controller
