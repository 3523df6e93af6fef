#include "controller/history/severity_store.h"

#include <string>

namespace pingloom::controller {

Result<SeverityStore> SeverityStore::open(Database& database) {
  SeverityStore made;
  auto prepared = database.prepareAll(
      {{&made.add_,
        "INSERT INTO severities(since_ns, probe, source, content) VALUES(?1, ?2, ?3, ?4)"},
       // A row without a newer one is needed as long as the history has windows of its source.
       {&made.remove_old_,
        "DELETE FROM severities WHERE since_ns < ?1 AND (EXISTS(SELECT 1 FROM severities AS newer "
        "WHERE newer.probe = severities.probe AND newer.source = severities.source AND "
        "newer.since_ns > severities.since_ns AND newer.since_ns <= ?1) OR NOT EXISTS(SELECT 1 "
        "FROM blocks WHERE blocks.probe = severities.probe AND blocks.source = "
        "severities.source))"},
       {&made.remove_many_,
        "DELETE FROM severities WHERE id <= (SELECT max(id) FROM severities) - ?1 AND "
        "EXISTS(SELECT 1 FROM severities AS newer WHERE newer.probe = severities.probe AND "
        "newer.source = severities.source AND newer.since_ns > severities.since_ns)"}});
  if (!prepared) return tl::unexpected(prepared.error());
  return made;
}

Status SeverityStore::write(std::span<const SeverityRecord> records) {
  for (const SeverityRecord& record : records) {
    const std::string source = record.source.wire();
    auto status = add_.bind(1, record.since_utc)
                      .bind(2, record.probe)
                      .bindBlob(3, source)
                      .bindBlob(4, record.content)
                      .queue();
    if (!status) return status;
  }
  return {};
}

Status SeverityStore::trim(Nanos retention, std::uint64_t max_bytes, Nanos now_utc) {
  if (now_utc >= trimmed_utc_ && now_utc - trimmed_utc_ < kTrimInterval) return {};
  trimmed_utc_ = now_utc;
  if (auto status = remove_old_.bind(1, now_utc - retention).run(); !status) return status;
  return remove_many_.bind(1, static_cast<std::int64_t>(max_bytes / kBytesOfEach)).run();
}

}  // namespace pingloom::controller
