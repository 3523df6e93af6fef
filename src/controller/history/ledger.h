// Keeps everything that was committed in one SQLite file or one PostgreSQL database. A batch's
// windows and its agent's new high-water mark are written in one transaction, so that each batch is
// counted once. ledger_schema.h describes the tables. Windows are packed when they arrive, and
// rolled up to minutes when they are LedgerRollUp::kAge old. If the file is damaged, it is moved
// aside, and a new file begins with the marks that are in memory. If the database is lost, what
// uses it fails until commit() has connected again; one controller at a time holds its lock.
// Several controllers that have sessions (fence.h) may share a database. What one of them writes is
// checked against its session when it commits, and each mark against the one that it expects, so
// that a batch counts once though its agent has moved; the leader alone rolls up, trims, and
// writes incidents.
//
// One thread at a time uses it. Bounds: the history is limited by age, in a file by size too, and
// is trimmed in small steps; marks of hosts that have delivered nothing for kMarkLife are
// forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/codec/block.h"
#include "controller/history/codec/report_packer.h"
#include "controller/history/counter_store.h"
#include "controller/history/event_store.h"
#include "controller/history/fence.h"
#include "controller/history/path_change_store.h"
#include "controller/history/severity_store.h"
#include "controller/history/sql/database.h"
#include "controller/history/verdict_store.h"
#include "controller/model/batch_frame.h"

namespace pingloom::controller {

struct LedgerOptions {
  HistoryPlace place;
  Nanos retention = 7 * 24 * kHour;
  std::uint64_t max_bytes = 4ULL << 30;  // of a file; a database's events are bounded by it, too
  std::shared_ptr<const Fence> fence = nullptr;  // nullptr: no other controller may write
};

// One report on its way into the ledger. The views point into the memory of LedgerBatch::owner.
struct LedgerWindow {
  std::string probe;
  IpAddress source;
  Nanos start_utc = 0;
  Nanos window = 0;
  std::uint64_t window_index = 0;
  std::uint32_t path = 0;
  std::string_view report;  // serialized wire::Report
};

struct LedgerBatch {
  std::string host;
  wire::BatchId id;
  std::vector<LedgerWindow> windows;
  std::shared_ptr<const void> owner;
  std::size_t bytes = 0;   // the size of the memory that `owner` holds
  std::uint64_t rows = 0;  // in all windows together
};

// A source of a probe.
struct LedgerPlace {
  std::string probe;
  IpAddress source;
};

// A report that the ledger has kept.
struct LatestReport {
  std::uint64_t incarnation = 0;
  std::string report;  // serialized wire::Report
};

class Ledger {
 public:
  static constexpr Nanos kMarkLife = 30 * 24 * kHour;
  using Marks = std::map<std::string, wire::BatchId>;  // by host

  // Fails when the file can be neither opened nor created, when the database cannot be reached or
  // another controller writes it, or when the history has another format.
  static Result<std::unique_ptr<Ledger>> open(LedgerOptions options, Nanos now_utc);
  ~Ledger();

  const Marks& marks() const { return marks_; }
  // Returns the reports of the newest window of this probe at this source. There are several if the
  // window was delivered in parts.
  std::vector<LatestReport> latest(std::string_view probe, const IpAddress& source);

  // Returns the end of the newest window in UTC, or 0 if there is none.
  Nanos newestEnd();

  // Commits all batches in one transaction, or none. A batch at or below its agent's mark is left
  // out. Connects again where the connection was lost.
  Status commit(std::span<const LedgerBatch> batches, Nanos now_utc);
  // Writes all of them or none.
  Status record(std::span<const KeptEvent> events, std::span<const PresenceRecord> presence,
                std::span<const VerdictRecord> verdicts = {},
                std::span<const SeverityRecord> severities = {},
                std::span<const CounterRecord> counters = {},
                std::span<const PathChange> path_changes = {});
  // Does the same as VerdictStore::load().
  Result<std::vector<VerdictRecord>> verdicts(Nanos closed_after_utc);
  // Rolls up some of the windows that are old enough. Returns their number, or 0 if none are left.
  Result<std::size_t> rollUp(Nanos now_utc);
  // Removes at most `windows` windows that are too old or exceed the size. Returns whether there
  // may be more.
  Result<bool> trim(std::size_t windows, Nanos now_utc);

  // Whether other controllers share the history, so that this one may have no agents.
  bool shared() const { return options_.fence != nullptr; }
  // Whether each statement costs a server's answer.
  bool remote() const { return options_.place.postgres().has_value(); }
  std::uint64_t windowsWritten() const { return windows_written_; }
  // Returns the number of blocks that could not be read or made.
  std::uint64_t blocksDropped() const { return blocks_dropped_; }
  std::uint64_t fileBytes() const;
  // Says what happened to a damaged file; "" if nothing did.
  const std::string& note() const { return note_; }

 private:
  struct Connection;
  explicit Ledger(LedgerOptions options);
  Status connect(Nanos now_utc);
  Status reconnect(Nanos now_utc);
  Status lockHistory();
  Status setMark(const std::string& host, wire::BatchId before, wire::BatchId mark, Nanos now_utc);
  Status finish(Writer writer);
  bool mayTidy() const;
  Status forgetMarks(Nanos now_utc);
  Status loadMarks(Nanos now_utc);
  void rollBack();
  Status writeKnowingMarks(std::span<const LedgerBatch> batches, Nanos now_utc);
  Status writeOrUndo(std::span<const LedgerBatch> batches, Nanos now_utc);
  Status write(std::span<const LedgerBatch> batches, Nanos now_utc);
  Status writeWindow(const LedgerWindow& window, wire::BatchId id);
  Result<std::vector<LatestReport>> readLatest(std::string_view probe, const IpAddress& source);
  Result<bool> removeOld(std::size_t windows, Nanos now_utc);
  Result<bool> removeOldest(std::size_t windows, Nanos now_utc);
  Result<std::size_t> rollUpStep(Nanos now_utc);
  Status replaceDamaged(Nanos now_utc);

  LedgerOptions options_;
  std::unique_ptr<Connection> connection_;
  Marks marks_;
  ReportPacker packer_;
  ContentReader content_;
  std::uint64_t windows_written_ = 0;
  std::uint64_t blocks_dropped_ = 0;
  std::uint64_t database_bytes_ = 0;  // the size at the last trim()
  std::string note_;
};

}  // namespace pingloom::controller
