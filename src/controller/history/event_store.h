// State changes and presence in the ledger's file, beside its windows. Best effort: unlike windows
// they are not delivered again, and what cannot be written is counted.
//
// events    utc_ns       when the controller knew
//           window_ns    start of the newest window that shows it; 0: none does
//           probe, source, destination (4 or 16 bytes; NULL: several)
//           before, after    PairState
//           pairs        that changed so
// presence  utc_ns, address (empty: of everyone), kind (PresenceRecord::Kind)
//
// One thread at a time. Bounds: the history's age; kMaxEvents and kMaxPresence rows, and one of
// each for kBytesOfEach of the history's size: at about 100 bytes a row they never crowd out the
// windows. Of an address's presence the newest record stays however old.
#pragma once

#include <cstdint>
#include <span>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/sqlite.h"
#include "controller/model/event_batch.h"
#include "controller/model/presence.h"

namespace pingloom::controller {

class EventStore {
 public:
  static constexpr std::int64_t kMaxEvents = 100'000;
  static constexpr std::int64_t kMaxPresence = 200'000;
  static constexpr std::int64_t kBytesOfEach = 2000;
  static constexpr Nanos kTrimInterval = kMinute;

  // Makes the tables where there are none. The database outlives the store.
  static Result<EventStore> open(Database& database);

  // In the transaction that is open.
  Status write(std::span<const KeptEvent> events, std::span<const PresenceRecord> presence);
  // At most once in kTrimInterval.
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
