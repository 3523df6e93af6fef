#include "controller/history/verdict_store.h"

#include <utility>

namespace pingloom::controller {
namespace {

Result<std::vector<std::string>> documentsIn(Statement& statement) {
  std::vector<std::string> found;
  for (;;) {
    const auto more = statement.step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return found;
    found.emplace_back(statement.bytes(0));
  }
}

}  // namespace

Result<VerdictStore> VerdictStore::open(Database& database) {
  VerdictStore made;
  auto prepared = database.prepareAll(
      {{&made.put_,
        "INSERT INTO verdicts(kind, key, opened_ns, closed_ns, document) VALUES(?1, ?2, ?3, ?4, "
        "?5) "
        "ON CONFLICT(kind, key) DO UPDATE SET opened_ns = excluded.opened_ns, closed_ns = "
        "excluded.closed_ns, document = excluded.document"},
       {&made.remove_, "DELETE FROM verdicts WHERE kind = ?1 AND key = ?2"},
       {&made.load_,
        "SELECT kind, key, opened_ns, closed_ns, document FROM verdicts WHERE kind <> 0 OR "
        "closed_ns = 0 OR closed_ns > ?1 OR CASE WHEN kind = 0 THEN CAST(key AS BIGINT) END = "
        "(SELECT max(CAST(key AS BIGINT)) FROM verdicts WHERE kind = 0)"},
       {&made.remove_old_,
        "DELETE FROM verdicts WHERE kind = 0 AND closed_ns <> 0 AND closed_ns < ?1"},
       {&made.remove_many_,
        "DELETE FROM verdicts WHERE CASE WHEN kind = 0 THEN CAST(key AS BIGINT) END <= (SELECT "
        "max(CAST(key AS BIGINT)) FROM verdicts WHERE kind = 0) - ?1"}});
  if (!prepared) return tl::unexpected(prepared.error());
  return made;
}

Status VerdictStore::write(std::span<const VerdictRecord> records) {
  for (const VerdictRecord& record : records) {
    const auto kind = static_cast<std::int64_t>(record.kind);
    Status status;
    if (record.document.empty()) {
      status = remove_.bind(1, kind).bind(2, record.key).run();
    } else {
      status = put_.bind(1, kind)
                   .bind(2, record.key)
                   .bind(3, record.opened_utc)
                   .bind(4, record.closed_utc)
                   .bind(5, record.document)
                   .run();
    }
    if (!status) return status;
  }
  return {};
}

Result<std::vector<VerdictRecord>> VerdictStore::load(Nanos closed_after_utc) {
  std::vector<VerdictRecord> found;
  load_.bind(1, closed_after_utc);
  for (;;) {
    const auto more = load_.step();
    if (!more || !*more) {
      load_.reset();
      if (!more) return tl::unexpected(more.error());
      return found;
    }
    const std::int64_t kind = load_.number(0);
    if (kind < 0 || kind > static_cast<std::int64_t>(VerdictRecord::Kind::kMaintenance)) continue;
    found.push_back({static_cast<VerdictRecord::Kind>(kind), std::string(load_.bytes(1)),
                     load_.number(2), load_.number(3), std::string(load_.bytes(4))});
  }
}

Status VerdictStore::trim(Nanos retention, Nanos now_utc) {
  if (now_utc >= trimmed_utc_ && now_utc - trimmed_utc_ < kTrimInterval) return {};
  trimmed_utc_ = now_utc;
  if (auto status = remove_old_.bind(1, now_utc - retention).run(); !status) return status;
  return remove_many_.bind(1, kMaxIncidents).run();
}

Result<std::vector<std::string>> readIncidents(Database& database, const IncidentQuery& query) {
  auto statement = database.prepare(
      "SELECT document FROM verdicts WHERE kind = 0 AND opened_ns < ?2 AND (closed_ns = 0 OR "
      "closed_ns >= ?1) ORDER BY opened_ns DESC, CAST(key AS BIGINT) DESC LIMIT ?3");
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(1, query.from_utc)
      .bind(2, query.until_utc)
      .bind(3, static_cast<std::int64_t>(query.limit));
  return documentsIn(*statement);
}

Result<std::string> readIncident(Database& database, std::uint64_t id) {
  auto statement = database.prepare("SELECT document FROM verdicts WHERE kind = 0 AND key = ?1");
  if (!statement) return tl::unexpected(statement.error());
  const std::string key = std::to_string(id);
  statement->bind(1, key);
  auto found = documentsIn(*statement);
  if (!found) return tl::unexpected(found.error());
  return found->empty() ? std::string() : std::move(found->front());
}

}  // namespace pingloom::controller
