#include "controller/history/path_change_store.h"

#include <algorithm>
#include <utility>

namespace pingloom::controller {

Result<PathChangeStore> PathChangeStore::open(Database& database) {
  PathChangeStore made;
  auto prepared = database.prepareAll(
      {{&made.add_,
        "INSERT INTO path_changes(utc_ns, probe, flows, several, source, destination, path, hop, "
        "before, after) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
       {&made.remove_old_, "DELETE FROM path_changes WHERE utc_ns < ?1"},
       {&made.remove_many_,
        "DELETE FROM path_changes WHERE id <= (SELECT max(id) FROM path_changes) - ?1"}});
  if (!prepared) return tl::unexpected(prepared.error());
  return made;
}

Status PathChangeStore::write(std::span<const PathChange> changes) {
  for (const PathChange& change : changes) {
    const std::string source = change.source.wire();
    const std::string destination = change.destination.wire();
    add_.bind(1, change.utc).bind(2, change.probe);
    add_.bind(3, static_cast<std::int64_t>(change.flows)).bind(4, std::int64_t{!change.of});
    add_.bindBlob(5, source).bindBlob(6, destination);
    add_.bind(7, static_cast<std::int64_t>(change.path));
    add_.bind(8, static_cast<std::int64_t>(change.hop));
    if (auto status = add_.bind(9, change.before).bind(10, change.after).queue(); !status) {
      return status;
    }
  }
  return {};
}

Status PathChangeStore::trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc) {
  if (now_utc >= trimmed_utc_ && now_utc - trimmed_utc_ < kTrimInterval) return {};
  trimmed_utc_ = now_utc;
  if (auto status = remove_old_.bind(1, now_utc - retention).run(); !status) return status;
  const auto most = static_cast<std::int64_t>(max_bytes / std::uint64_t{kBytesOfEach});
  return remove_many_.bind(1, std::min(kMaxRecords, most)).run();
}

Result<FoundPathChanges> readPathChanges(Database& database, const PathChangeQuery& query) {
  auto statement = database.prepare(
      "SELECT utc_ns, probe, flows, several, source, destination, path, hop, before, after FROM "
      "path_changes WHERE utc_ns >= ?1 AND utc_ns < ?2 AND (?3 = '' OR probe = ?3) AND (?4 IS NULL "
      "OR several = 1 OR source = ?4) AND (?5 IS NULL OR flows > 1 OR destination = ?5) "
      "ORDER BY utc_ns DESC, id DESC");
  if (!statement) return tl::unexpected(statement.error());
  const std::string from = query.source ? query.source->wire() : "";
  const std::string to = query.destination ? query.destination->wire() : "";
  statement->bind(1, query.from_utc).bind(2, query.until_utc).bind(3, query.probe);
  if (query.source) statement->bindBlob(4, from);
  if (query.destination) statement->bindBlob(5, to);
  FoundPathChanges found;
  for (;;) {
    const auto more = statement->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto source = IpAddress::fromWire(statement->bytes(4));
    const auto destination = IpAddress::fromWire(statement->bytes(5));
    if (!source || !destination) continue;
    if (found.changes.size() >= query.limit) {
      ++found.left_out;
      continue;
    }
    PathChange& made = found.changes.emplace_back();
    made.utc = statement->number(0);
    made.probe = statement->bytes(1);
    made.flows = static_cast<std::uint64_t>(statement->number(2));
    if (statement->number(3) == 0) made.of = *source;
    made.source = *source;
    made.destination = *destination;
    made.path = static_cast<std::uint32_t>(statement->number(6));
    made.hop = static_cast<std::uint32_t>(statement->number(7));
    made.before = statement->bytes(8);
    made.after = statement->bytes(9);
  }
  std::reverse(found.changes.begin(), found.changes.end());
  return found;
}

}  // namespace pingloom::controller
