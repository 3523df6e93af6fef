// The SQLite file of everything that was committed: each agent's high-water mark and every window
// it delivered, written in one transaction, so that a batch is counted once. ledger_schema.h
// describes its tables. Windows are packed when they arrive, and rolled up to minutes when they are
// LedgerRollUp::kAge old. A damaged file is moved aside, and a new one begins with the marks that
// are known in memory.
//
// One thread at a time. Bounds: history by age and by size, trimmed in small steps; marks of hosts
// that were silent for kMarkLife are forgotten.
#pragma once

#include <cstdint>
#include <filesystem>
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
#include "controller/history/event_store.h"
#include "controller/history/sqlite.h"
#include "controller/history/verdict_store.h"
#include "controller/model/batch_frame.h"

namespace pingloom::controller {

struct LedgerOptions {
  std::filesystem::path file;
  Nanos retention = 7 * 24 * kHour;
  std::uint64_t max_bytes = 4ULL << 30;
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

  // Fails when the file can be neither opened nor created, or has another format.
  static Result<std::unique_ptr<Ledger>> open(LedgerOptions options, Nanos now_utc);
  ~Ledger();

  const Marks& marks() const { return marks_; }
  // The reports of the newest window of this probe at this source; several if it was delivered in
  // parts.
  std::vector<LatestReport> latest(std::string_view probe, const IpAddress& source);

  // The end of the newest window, UTC; 0: there is none.
  Nanos newestEnd();

  // Commits all batches in one transaction, or none. A batch at or below its agent's mark is left
  // out.
  Status commit(std::span<const LedgerBatch> batches, Nanos now_utc);
  // Writes state changes, presence and verdicts, all or none of them.
  Status record(std::span<const KeptEvent> events, std::span<const PresenceRecord> presence,
                std::span<const VerdictRecord> verdicts = {});
  // As VerdictStore::load().
  Result<std::vector<VerdictRecord>> verdicts(Nanos closed_after_utc);
  // Rolls up some of the windows that are old enough. Returns their number; 0: none are left.
  Result<std::size_t> rollUp(Nanos now_utc);
  // Removes at most `windows` windows that are too old or exceed the size. True: there are more.
  Result<bool> trim(std::size_t windows, Nanos now_utc);

  std::uint64_t windowsWritten() const { return windows_written_; }
  // Blocks that could not be read or made.
  std::uint64_t blocksDropped() const { return blocks_dropped_; }
  std::uint64_t fileBytes() const;
  // What happened to an earlier file; "": nothing.
  const std::string& note() const { return note_; }

 private:
  struct Connection;
  explicit Ledger(LedgerOptions options);
  Status connect(Nanos now_utc);
  Status prepareTables();
  Status loadMarks(Nanos now_utc);
  Status writeOrUndo(std::span<const LedgerBatch> batches, Nanos now_utc);
  Status write(std::span<const LedgerBatch> batches, Nanos now_utc);
  Status writeWindow(const LedgerWindow& window, wire::BatchId id);
  Result<std::vector<LatestReport>> readLatest(std::string_view probe, const IpAddress& source);
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
  std::string note_;
};

}  // namespace pingloom::controller
