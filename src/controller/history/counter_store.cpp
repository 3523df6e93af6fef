#include "controller/history/counter_store.h"

#include <algorithm>
#include <utility>

namespace pingloom::controller {

Result<CounterStore> CounterStore::open(Database& database) {
  CounterStore made;
  auto prepared = database.prepareAll(
      {{&made.add_,
        "INSERT INTO counters(minute_ns, host, device, port, counter, kind, total, moved) "
        "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
       {&made.remove_old_, "DELETE FROM counters WHERE minute_ns < ?1"},
       {&made.remove_many_,
        "DELETE FROM counters WHERE kind = ?1 AND id <= (SELECT id FROM counters WHERE kind = ?1 "
        "ORDER BY id DESC LIMIT 1 OFFSET ?2)"}});
  if (!prepared) return tl::unexpected(prepared.error());
  return made;
}

// SQLite's numbers are signed; a value above 2^63 keeps its bits.
Status CounterStore::write(std::span<const CounterRecord> records) {
  for (const CounterRecord& record : records) {
    const WatchedCounter& counter = watchedCounters()[record.counter];
    auto status = add_.bind(1, record.minute_utc)
                      .bind(2, record.host)
                      .bind(3, record.device)
                      .bind(4, static_cast<std::int64_t>(record.port))
                      .bind(5, counter.name)
                      .bind(6, static_cast<std::int64_t>(counter.kind))
                      .bind(7, static_cast<std::int64_t>(record.total))
                      .bind(8, static_cast<std::int64_t>(record.moved))
                      .queue();
    if (!status) return status;
  }
  return {};
}

Status CounterStore::trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc) {
  if (now_utc >= trimmed_utc_ && now_utc - trimmed_utc_ < kTrimInterval) return {};
  trimmed_utc_ = now_utc;
  if (auto status = remove_old_.bind(1, now_utc - retention).run(); !status) return status;
  const auto most =
      std::min(kMaxRecords, static_cast<std::int64_t>(max_bytes / std::uint64_t{kBytesOfEach}));
  for (const CounterKind kind : {CounterKind::kError, CounterKind::kLoad}) {
    auto status = remove_many_.bind(1, static_cast<std::int64_t>(kind)).bind(2, most).run();
    if (!status) return status;
  }
  return {};
}

Result<std::vector<PastCounter>> readCounters(Database& database, const CounterQuery& query) {
  auto statement = database.prepare(
      "SELECT minute_ns, device, port, counter, kind, total, moved FROM counters WHERE host = ?1 "
      "AND minute_ns >= ?2 AND minute_ns < ?3 ORDER BY minute_ns DESC, id DESC LIMIT ?4");
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(1, query.host)
      .bind(2, query.from_utc)
      .bind(3, query.until_utc)
      .bind(4, static_cast<std::int64_t>(query.limit));
  std::vector<PastCounter> found;
  for (;;) {
    const auto more = statement->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return found;
    PastCounter& made = found.emplace_back();
    made.minute_utc = statement->number(0);
    made.device = statement->bytes(1);
    made.port = static_cast<std::uint32_t>(statement->number(2));
    made.counter = statement->bytes(3);
    made.kind = statement->number(4) == 0 ? CounterKind::kError : CounterKind::kLoad;
    made.total = static_cast<std::uint64_t>(statement->number(5));
    made.moved = static_cast<std::uint64_t>(statement->number(6));
  }
}

}  // namespace pingloom::controller
