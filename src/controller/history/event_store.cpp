#include "controller/history/event_store.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pingloom::controller {
Result<EventStore> EventStore::open(Database& database) {
  EventStore made;
  auto prepared = database.prepareAll(
      {{&made.add_event_,
        "INSERT INTO events(utc_ns, window_ns, probe, source, destination, before, after, pairs, "
        "severity_before, severity_after) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
       {&made.add_presence_, "INSERT INTO presence(utc_ns, address, kind) VALUES(?1, ?2, ?3)"},
       {&made.remove_old_events_, "DELETE FROM events WHERE utc_ns < ?1"},
       {&made.remove_many_events_,
        "DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?1"},
       {&made.remove_old_presence_,
        "DELETE FROM presence WHERE utc_ns < ?1 AND (kind = 3 OR utc_ns < (SELECT max(utc_ns) "
        "FROM presence AS newer WHERE newer.address = presence.address AND newer.utc_ns < ?1 "
        "AND newer.kind <> 3))"},
       {&made.remove_many_presence_,
        "DELETE FROM presence WHERE id <= (SELECT max(id) FROM presence) - ?1 AND (kind = 3 OR "
        "EXISTS(SELECT 1 FROM presence AS newer WHERE newer.address = presence.address AND "
        "newer.utc_ns > presence.utc_ns AND newer.kind <> 3))"}});
  if (!prepared) return tl::unexpected(prepared.error());
  return made;
}

Status EventStore::write(std::span<const KeptEvent> events,
                         std::span<const PresenceRecord> presence) {
  for (const KeptEvent& event : events) {
    const std::string source = event.source ? event.source->wire() : "";
    const std::string destination = event.destination ? event.destination->wire() : "";
    add_event_.bind(1, event.utc).bind(2, event.window_utc).bind(3, event.probe);
    if (event.source) add_event_.bindBlob(4, source);
    if (event.destination) add_event_.bindBlob(5, destination);
    auto status = add_event_.bind(6, static_cast<std::int64_t>(event.from))
                      .bind(7, static_cast<std::int64_t>(event.to))
                      .bind(8, static_cast<std::int64_t>(event.pairs))
                      .bind(9, static_cast<std::int64_t>(event.severity_from))
                      .bind(10, static_cast<std::int64_t>(event.severity_to))
                      .queue();
    if (!status) return status;
  }
  for (const PresenceRecord& record : presence) {
    const std::string address = record.address ? record.address->wire() : "";
    auto status = add_presence_.bind(1, record.utc)
                      .bindBlob(2, address)
                      .bind(3, static_cast<std::int64_t>(record.kind))
                      .queue();
    if (!status) return status;
  }
  return {};
}

Status EventStore::trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc) {
  if (now_utc >= trimmed_utc_ && now_utc - trimmed_utc_ < kTrimInterval) return {};
  trimmed_utc_ = now_utc;
  const auto most = static_cast<std::int64_t>(max_bytes / kBytesOfEach);
  for (const auto& [statement, bound] : std::initializer_list<std::pair<Statement*, std::int64_t>>{
           {&remove_old_events_, now_utc - retention},
           {&remove_many_events_, std::min(kMaxEvents, most)},
           {&remove_old_presence_, now_utc - retention},
           {&remove_many_presence_, std::min(kMaxPresence, most)}}) {
    if (auto status = statement->bind(1, bound).run(); !status) return status;
  }
  return {};
}

}  // namespace pingloom::controller
