// State changes and presence out of the ledger's file. The thread of its History.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/past_presence.h"
#include "controller/history/sqlite.h"
#include "controller/model/event_batch.h"

namespace pingloom::controller {

struct EventQuery {
  Nanos from_utc = 0;  // [from, until)
  Nanos until_utc = 0;
  std::string probe;  // "": all
  // Changes that may concern it: those of many pairs too.
  std::optional<IpAddress> source;
  std::optional<IpAddress> destination;
  std::size_t limit = 0;  // the newest
  std::size_t bins = 0;   // equal parts of the time
};

// What changed in a part of the time. All changes count, beyond `limit` too.
struct EventBin {
  std::uint64_t events = 0;  // 0: the rest says nothing
  std::uint64_t pairs = 0;
  PairState worst = PairState::kOk;  // that pairs came to
  Nanos utc = 0;                     // of the first that came to it
  Nanos window_utc = 0;
};

struct FoundEvents {
  std::vector<KeptEvent> events;  // oldest first
  std::uint64_t left_out = 0;     // older ones of that time, beyond the limit
  std::vector<EventBin> bins;
};

Result<FoundEvents> readEvents(Database& database, const EventQuery& query);

// What there is to know of [from, until], of all agents or of one address's.
Result<PastPresence> readPresence(Database& database, Nanos from_utc, Nanos until_utc,
                                  const std::optional<IpAddress>& only = std::nullopt);

}  // namespace pingloom::controller
