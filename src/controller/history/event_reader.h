// Reads changes of state and severity, and presence from the ledger's file, in the thread of its
// History.
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
#include "controller/history/sql/database.h"
#include "controller/model/event_batch.h"

namespace pingloom::controller {

struct EventQuery {
  Nanos from_utc = 0;  // [from, until)
  Nanos until_utc = 0;
  std::string probe;  // "": all
  // Changes that may concern the address, which includes changes of several pairs at once.
  std::optional<IpAddress> source;
  std::optional<IpAddress> destination;
  std::size_t limit = 0;  // return only the newest
  std::size_t bins = 0;   // divide the time into this many equal parts
};

// What changed in one part of the time. Changes beyond `limit` count as well.
struct EventBin {
  std::uint64_t events = 0;  // 0: the fields below mean nothing
  std::uint64_t pairs = 0;
  // What the worst change changed pairs to: first by severity, then by state.
  PairState worst = PairState::kOk;
  Severity severity = Severity::kNone;
  // When the first of the worst changes was.
  Nanos utc = 0;
  Nanos window_utc = 0;
};

struct FoundEvents {
  std::vector<KeptEvent> events;  // oldest first
  std::uint64_t left_out = 0;     // older events of that time, beyond the limit
  std::vector<EventBin> bins;
};

Result<FoundEvents> readEvents(Database& database, const EventQuery& query);

// What is known about [from, until], for all agents or for the agent of one address.
Result<PastPresence> readPresence(Database& database, Nanos from_utc, Nanos until_utc,
                                  const std::optional<IpAddress>& only = std::nullopt);

}  // namespace pingloom::controller
