// State changes and presence in the ledger's file (ledger_schema.h). They are kept as best effort:
// unlike windows they are not delivered again, and records that cannot be written are counted.
//
// One thread at a time. Bounds: the history's age; kMaxEvents and kMaxPresence rows, and one row of
// each table for kBytesOfEach of the history's size, so that they never crowd out the windows. The
// newest presence record of an address stays however old it is.
#pragma once

#include <cstdint>
#include <span>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"
#include "controller/model/event_batch.h"
#include "controller/model/presence.h"

namespace pingloom::controller {

class EventStore {
 public:
  static constexpr std::int64_t kMaxEvents = 100'000;
  static constexpr std::int64_t kMaxPresence = 200'000;
  static constexpr std::int64_t kBytesOfEach = 2000;
  static constexpr Nanos kTrimInterval = kMinute;

  // The database has the ledger's tables and outlives the store.
  static Result<EventStore> open(Database& database);

  // Writes in the transaction that is open.
  Status write(std::span<const KeptEvent> events, std::span<const PresenceRecord> presence);
  // Does something at most once in kTrimInterval.
  Status trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc);

 private:
  Statement add_event_;
  Statement add_presence_;
  Statement remove_old_events_;
  Statement remove_many_events_;
  Statement remove_old_presence_;
  Statement remove_many_presence_;
  Nanos trimmed_utc_ = 0;
};

}  // namespace pingloom::controller
