#include "controller/history/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "common/log.h"
#include "controller/history/block_insert.h"
#include "controller/history/codec/kept_report.h"
#include "controller/history/ledger_roll_up.h"
#include "controller/history/ledger_tables.h"
#include "controller/model/report_reader.h"

namespace pingloom::controller {
namespace {

constexpr const char* kSideFiles[] = {"", "-wal", "-shm"};
constexpr int kReadMarksAgain = 3;

// Two controllers must not write one history. The lock belongs to the connection. That of a
// controller which was killed may end a moment later, so it is waited for.
constexpr const char* kLockHistory =
    "SET lock_timeout = 3000; SELECT pg_advisory_lock(hashtext('pingloom history'))";
// Controllers with sessions keep out the others, and these keep them out. The transaction of one
// that is paused must not hold up another one that takes over its agents.
constexpr const char* kShareHistory =
    "SET lock_timeout = 3000; SELECT pg_advisory_lock_shared(hashtext('pingloom history')); "
    "SET idle_in_transaction_session_timeout = 2000";

// The size that trimming compares with the limit; pages that deletions have freed do not count.
constexpr const char* kUsedBytes =
    "SELECT (c.page_count - f.freelist_count) * s.page_size FROM pragma_page_count c, "
    "pragma_freelist_count f, pragma_page_size s";

}  // namespace

// Statements are declared after the database, so that they are destroyed before it.
struct Ledger::Connection {
  explicit Connection(Database opened) : database(std::move(opened)) {}

  Status prepare() {
    auto opened = EventStore::open(database);
    if (!opened) return tl::unexpected(opened.error());
    events = std::move(*opened);
    auto verdict_store = VerdictStore::open(database);
    if (!verdict_store) return tl::unexpected(verdict_store.error());
    verdicts = std::move(*verdict_store);
    auto severity_store = SeverityStore::open(database);
    if (!severity_store) return tl::unexpected(severity_store.error());
    severities = std::move(*severity_store);
    auto counter_store = CounterStore::open(database);
    if (!counter_store) return tl::unexpected(counter_store.error());
    counters = std::move(*counter_store);
    auto path_change_store = PathChangeStore::open(database);
    if (!path_change_store) return tl::unexpected(path_change_store.error());
    path_changes = std::move(*path_change_store);
    if (auto status = roll_up.prepare(database); !status) return status;
    if (auto status = insert_block.prepare(database); !status) return status;
    return database.prepareAll(
        {{&begin, database.engine() == Engine::kSqlite ? "BEGIN IMMEDIATE" : "BEGIN"},
         {&commit, "COMMIT"},
         {&set_mark,
          "INSERT INTO agents(host, incarnation, sequence, updated_ns) VALUES(?1, ?2, ?3, ?4) ON "
          "CONFLICT(host) DO UPDATE SET incarnation = excluded.incarnation, sequence = "
          "excluded.sequence, updated_ns = excluded.updated_ns WHERE agents.incarnation = ?5 AND "
          "agents.sequence = ?6"},
         {&latest,
          "SELECT incarnation, start_ns, window_ns, path, content FROM blocks WHERE probe = ?1 AND "
          "source = ?2 AND start_ns = "
          "(SELECT max(start_ns) FROM blocks WHERE probe = ?1 AND source = ?2)"},
         {&remove_old,
          "DELETE FROM blocks WHERE id IN (SELECT id FROM blocks WHERE start_ns < ?1 "
          "ORDER BY start_ns LIMIT ?2)"},
         {&used_bytes, database.engine() == Engine::kSqlite
                           ? kUsedBytes
                           : "SELECT pg_database_size(current_database())"}});
  }

  Database database;
  LedgerRollUp roll_up;
  Statement begin;
  Statement commit;
  BlockInsert insert_block;
  Statement set_mark;
  Statement latest;
  Statement remove_old;
  Statement used_bytes;
  EventStore events;
  VerdictStore verdicts;
  SeverityStore severities;
  CounterStore counters;
  PathChangeStore path_changes;
};

Ledger::Ledger(LedgerOptions options) : options_(std::move(options)) {}
Ledger::~Ledger() = default;

Result<std::unique_ptr<Ledger>> Ledger::open(LedgerOptions options, Nanos now_utc) {
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(options)));
  auto status = ledger->connect(now_utc);
  if (!status && ledger->connection_ != nullptr && ledger->connection_->database.damaged()) {
    status = ledger->replaceDamaged(now_utc);
  }
  if (!status) return tl::unexpected(status.error());
  return ledger;
}

Status Ledger::connect(Nanos now_utc) {
  connection_.reset();
  auto opened = Database::open(options_.place);
  if (!opened) return tl::unexpected(opened.error());
  connection_ = std::make_unique<Connection>(std::move(*opened));
  Database& database = connection_->database;
  if (auto status = prepareTables(database, options_.place); !status) return status;
  if (auto status = lockHistory(); !status) return status;
  if (auto status = connection_->prepare(); !status) return status;
  return loadMarks(now_utc);
}

// A state folder has a lock of its own, so an SQLite file needs none.
Status Ledger::lockHistory() {
  Database& database = connection_->database;
  if (database.engine() == Engine::kSqlite) return {};
  auto locked = database.execute(options_.fence == nullptr ? kLockHistory : kShareHistory);
  if (locked || database.lost()) return locked;
  return makeError(options_.place.text(),
                   "another controller writes this history; stop it, use another database, or give "
                   "both a 'cluster' section (" +
                       locked.error().reason + ")");
}

Status Ledger::forgetMarks(Nanos now_utc) {
  if (!mayTidy()) return {};
  auto forget = connection_->database.prepare("DELETE FROM agents WHERE updated_ns < ?1");
  if (!forget) return tl::unexpected(forget.error());
  if (auto status = connection_->begin.run(); !status) return status;
  if (auto status = forget->bind(1, now_utc - kMarkLife).run(); !status) return status;
  return finish(Writer::kLeader);
}

Status Ledger::loadMarks(Nanos now_utc) {
  if (auto status = forgetMarks(now_utc); !status) return status;
  auto select = connection_->database.prepare("SELECT host, incarnation, sequence FROM agents");
  if (!select) return tl::unexpected(select.error());
  for (;;) {
    const auto more = select->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    wire::BatchId& mark = marks_[std::string(select->bytes(0))];
    mark = std::max(mark, wire::BatchId{static_cast<std::uint64_t>(select->number(1)),
                                        static_cast<std::uint64_t>(select->number(2))});
  }
}

Nanos Ledger::newestEnd() {
  auto select = connection_->database.prepare(
      "SELECT start_ns + window_ns FROM blocks ORDER BY start_ns DESC LIMIT 1");
  if (!select) return 0;
  const auto found = select->step();
  return found && *found ? select->number(0) : 0;
}

// Moves the file aside with its -wal and -shm and begins a new one.
Status Ledger::replaceDamaged(Nanos now_utc) {
  connection_.reset();
  const std::string aside = options_.place.text() + ".damaged-" + formatUtc(now_utc);
  for (const char* suffix : kSideFiles) {
    std::error_code missing;
    std::filesystem::rename(options_.place.text() + suffix, aside + suffix, missing);
  }
  note_ = "the history was damaged; it was moved to " + aside + ", and a new one has begun";
  log::error("{}: {}", options_.place.text(), note_);
  if (auto status = connect(now_utc); !status) return status;
  if (auto status = connection_->begin.run(); !status) return status;
  for (const auto& [host, mark] : marks_) {
    if (auto status = setMark(host, {}, mark, now_utc); !status) return status;
  }
  return connection_->commit.run();
}

std::vector<LatestReport> Ledger::latest(std::string_view probe, const IpAddress& source) {
  auto found = readLatest(probe, source);
  if (found) return std::move(*found);
  log::error("cannot read the latest window of {} at {}: {}", probe, source.text(),
             found.error().text());
  if (connection_->database.damaged()) {
    const auto status = replaceDamaged(utcNow());
    if (!status) {
      connection_.reset();
      log::error("{}", status.error().text());
    }
  }
  return {};
}

Result<std::vector<LatestReport>> Ledger::readLatest(std::string_view probe,
                                                     const IpAddress& source) {
  std::vector<LatestReport> found;
  if (connection_ == nullptr) return found;
  Statement& latest = connection_->latest;
  const std::string address = source.wire();
  latest.bind(1, probe).bindBlob(2, address);
  for (;;) {
    const auto more = latest.step();
    if (!more || !*more) {
      latest.reset();
      if (!more) return tl::unexpected(more.error());
      return found;
    }
    // A damaged block is skipped, so that the others are shown.
    const bool possible = latest.number(2) > 0 && latest.number(2) <= kMaxWindow;
    if (!possible || !content_.open(latest.bytes(4)) || !content_.readAll()) continue;
    const KeptReport kept{probe, source, static_cast<std::uint32_t>(latest.number(3)),
                          latest.number(1), latest.number(2)};
    found.push_back({static_cast<std::uint64_t>(latest.number(0)), reportOf(kept, content_)});
  }
}

Status Ledger::commit(std::span<const LedgerBatch> batches, Nanos now_utc) {
  if (auto status = reconnect(now_utc); !status) return status;
  auto status = writeKnowingMarks(batches, now_utc);
  if (status) return status;
  if (!connection_->database.damaged()) {
    rollBack();
    return status;
  }
  if (auto replaced = replaceDamaged(now_utc); !replaced) {
    connection_.reset();
    return replaced;
  }
  return writeOrUndo(batches, now_utc);
}

Status Ledger::reconnect(Nanos now_utc) {
  if (connection_ != nullptr) return {};
  auto status = connect(now_utc);
  if (!status) connection_.reset();  // it is only partly prepared
  return status;
}

// A connection that is lost is closed; whether its last COMMIT took effect is seen by the marks
// that the next one reads.
void Ledger::rollBack() {
  // This fails harmlessly when the engine has rolled back already.
  if (!connection_->database.lost()) (void)connection_->database.execute("ROLLBACK");
  if (connection_->database.lost()) connection_.reset();
}

// An agent that has moved here from another controller has a newer mark than the one in memory.
Status Ledger::writeKnowingMarks(std::span<const LedgerBatch> batches, Nanos now_utc) {
  auto status = writeOrUndo(batches, now_utc);
  const auto moved = [&] { return !status && connection_->database.takeUnchanged(); };
  for (int again = 0; moved() && again < kReadMarksAgain; ++again) {
    if (auto undone = connection_->database.execute("ROLLBACK"); !undone) return undone;
    marks_.clear();  // the database's are right, also where it has lost commits in a failover
    if (auto read = loadMarks(now_utc); !read) return read;
    status = writeOrUndo(batches, now_utc);
  }
  return status;
}

// Undoes the changes in memory when the transaction fails.
Status Ledger::writeOrUndo(std::span<const LedgerBatch> batches, Nanos now_utc) {
  Marks before;
  for (const LedgerBatch& batch : batches) before.emplace(batch.host, marks_[batch.host]);
  const std::uint64_t written_before = windows_written_;
  auto status = write(batches, now_utc);
  if (status) return status;
  for (const auto& [host, mark] : before) marks_[host] = mark;
  windows_written_ = written_before;
  return status;
}

Status Ledger::write(std::span<const LedgerBatch> batches, Nanos now_utc) {
  // What is queued is to be refused, and not to commit by itself, if this fails.
  if (auto status = connection_->begin.run(); !status) return status;
  for (const LedgerBatch& batch : batches) {
    wire::BatchId& mark = marks_[batch.host];
    if (batch.id <= mark) continue;
    const wire::BatchId before = std::exchange(mark, batch.id);
    for (const LedgerWindow& window : batch.windows) {
      if (auto status = writeWindow(window, batch.id); !status) return status;
    }
    if (auto status = setMark(batch.host, before, batch.id, now_utc); !status) return status;
  }
  return finish(Writer::kMember);
}

// The transaction fails if the mark is not `before`, or, where that is none, if there is one.
Status Ledger::setMark(const std::string& host, wire::BatchId before, wire::BatchId mark,
                       Nanos now_utc) {
  return connection_->set_mark.bind(1, host)
      .bind(2, static_cast<std::int64_t>(mark.incarnation))
      .bind(3, static_cast<std::int64_t>(mark.sequence))
      .bind(4, now_utc)
      .bind(5, static_cast<std::int64_t>(before.incarnation))
      .bind(6, static_cast<std::int64_t>(before.sequence))
      .queueChange();
}

// Nothing is committed before all outcomes are known: a mark that was not changed does not end the
// transaction by itself.
Status Ledger::finish(Writer writer) {
  if (auto status = connection_->database.settle(); !status) return status;
  if (options_.fence == nullptr) return connection_->commit.run();
  const Fence::Held held = options_.fence->held();
  if (held.session == 0) {
    return makeError(options_.place.text(),
                     "this controller has no session at present; its lease has ended");
  }
  return connection_->database.execute(fencedCommit(held, writer).c_str());
}

// Two controllers must not roll up the same windows.
bool Ledger::mayTidy() const {
  return options_.fence == nullptr || options_.fence->leads(monotonicNow());
}

Status Ledger::writeWindow(const LedgerWindow& window, wire::BatchId id) {
  const std::string source = window.source.wire();
  const BlockLine line{window.probe,
                       source,
                       static_cast<std::int64_t>(window.path),
                       window.start_utc,
                       window.window,
                       false,
                       static_cast<std::int64_t>(id.incarnation),
                       static_cast<std::int64_t>(id.sequence)};
  const auto packed = packer_.pack(window.report, [&](std::string_view block) {
    return connection_->insert_block.run(line, block);
  });
  if (!packed) return tl::unexpected(packed.error());
  // The intake has checked the report, so a failure here is our own; it must not hold up the rest.
  if (!*packed) ++blocks_dropped_;
  ++windows_written_;
  return {};
}

Result<std::size_t> Ledger::rollUp(Nanos now_utc) {
  if (connection_ == nullptr || !mayTidy()) return std::size_t{0};
  const std::uint64_t dropped_before = blocks_dropped_;
  auto rolled = rollUpStep(now_utc);
  if (rolled) {
    if (dropped_before == 0 && blocks_dropped_ > 0) {
      log::warning("{}: dropped blocks that could not be read", options_.place.text());
    }
    return rolled;
  }
  blocks_dropped_ = dropped_before;
  if (!connection_->database.damaged()) {
    rollBack();
    return rolled;
  }
  if (auto status = replaceDamaged(now_utc); !status) {
    connection_.reset();
    return tl::unexpected(status.error());
  }
  return std::size_t{0};
}

Result<std::size_t> Ledger::rollUpStep(Nanos now_utc) {
  Connection& connection = *connection_;
  if (auto status = connection.begin.run(); !status) return tl::unexpected(status.error());
  auto done = connection.roll_up.step(now_utc, connection.insert_block, blocks_dropped_);
  if (!done) return done;
  if (auto status = finish(Writer::kLeader); !status) return tl::unexpected(status.error());
  return done;
}

Result<std::vector<VerdictRecord>> Ledger::verdicts(Nanos closed_after_utc) {
  if (connection_ == nullptr) return makeError(options_.place.text(), "is not open");
  return connection_->verdicts.load(closed_after_utc);
}

Status Ledger::record(std::span<const KeptEvent> events, std::span<const PresenceRecord> presence,
                      std::span<const VerdictRecord> verdicts,
                      std::span<const SeverityRecord> severities,
                      std::span<const CounterRecord> counters,
                      std::span<const PathChange> path_changes) {
  if (connection_ == nullptr) return makeError(options_.place.text(), "is not open");
  auto status = connection_->begin.run();
  if (status) status = connection_->events.write(events, presence);
  // What a former leader has concluded is not written; the next one has taken over. A lease that
  // has lapsed is no reason: if another controller leads, the commit fails, and if not, this one
  // goes on.
  const bool member = options_.fence != nullptr && options_.fence->held().epoch == 0;
  const bool leads = !verdicts.empty() && !member;
  if (status && leads) status = connection_->verdicts.write(verdicts);
  if (status) status = connection_->severities.write(severities);
  if (status) status = connection_->counters.write(counters);
  if (status) status = connection_->path_changes.write(path_changes);
  if (status) status = finish(leads ? Writer::kLeader : Writer::kMember);
  if (!status) rollBack();
  return status;
}

Result<bool> Ledger::trim(std::size_t windows, Nanos now_utc) {
  if (connection_ == nullptr || !mayTidy()) return false;
  // A file is locked for one statement at a time, so that readers wait less.
  const bool fenced = options_.fence != nullptr;
  if (fenced) {
    if (auto status = connection_->begin.run(); !status) return tl::unexpected(status.error());
  }
  auto more = removeOld(windows, now_utc);
  if (more && fenced) {
    if (auto status = finish(Writer::kLeader); !status) more = tl::unexpected(status.error());
  }
  if (!more && connection_->database.damaged()) {
    if (auto status = replaceDamaged(now_utc); !status) {
      connection_.reset();
      return tl::unexpected(status.error());
    }
    return false;
  }
  if (!more) rollBack();
  return more;
}

// Removes from all tables what is too old.
Result<bool> Ledger::removeOld(std::size_t windows, Nanos now_utc) {
  auto more = removeOldest(windows, now_utc);
  if (const auto status = connection_->events.trim(options_.retention, options_.max_bytes, now_utc);
      !status && more) {
    more = tl::unexpected(status.error());
  }
  if (const auto status = connection_->verdicts.trim(options_.retention, now_utc);
      !status && more) {
    more = tl::unexpected(status.error());
  }
  if (const auto status =
          connection_->severities.trim(options_.retention, options_.max_bytes, now_utc);
      !status && more) {
    more = tl::unexpected(status.error());
  }
  if (const auto status =
          connection_->counters.trim(options_.retention, options_.max_bytes, now_utc);
      !status && more) {
    more = tl::unexpected(status.error());
  }
  if (const auto status =
          connection_->path_changes.trim(options_.retention, options_.max_bytes, now_utc);
      !status && more) {
    more = tl::unexpected(status.error());
  }
  return more;
}

Result<bool> Ledger::removeOldest(std::size_t windows, Nanos now_utc) {
  const auto used = connection_->used_bytes.step();
  if (!used) return tl::unexpected(used.error());
  const auto used_bytes = static_cast<std::uint64_t>(connection_->used_bytes.number(0));
  connection_->used_bytes.reset();
  database_bytes_ = used_bytes;
  // PostgreSQL's size does not shrink with its content, so only the age limits it.
  const bool too_large = !options_.place.postgres() && used_bytes > options_.max_bytes;
  const Nanos before = too_large ? INT64_MAX : now_utc - options_.retention;
  auto status =
      connection_->remove_old.bind(1, before).bind(2, static_cast<std::int64_t>(windows)).run();
  if (!status) return tl::unexpected(status.error());
  return connection_->remove_old.changed() == static_cast<std::int64_t>(windows);
}

std::uint64_t Ledger::fileBytes() const {
  if (options_.place.postgres()) return database_bytes_;
  // Commits lie in the write-ahead log until a checkpoint moves them.
  std::uint64_t total = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(options_.place.text() + suffix, missing);
    if (!missing) total += bytes;
  }
  return total;
}

}  // namespace pingloom::controller
