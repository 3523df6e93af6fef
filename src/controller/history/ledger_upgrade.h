// Packs what earlier versions of the ledger kept (ledger_schema.h), in small steps and the newest
// first, so that a large file is no reason to start late. Inside the caller's transactions. The
// ledger's thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/error.h"
#include "controller/history/block_insert.h"
#include "controller/history/codec/report_packer.h"
#include "controller/history/latest_report.h"
#include "controller/history/sqlite.h"

namespace pingloom::controller {

class LedgerUpgrade {
 public:
  static constexpr int kWindowsInAStep = 16;

  // Whether there is anything to do.
  Status prepare(Database& database);
  bool pending() const { return pending_; }
  // Of what waits, the oldest: (start before, at most so many). REQUIRES pending().
  Statement& removeOld() { return remove_old_; }
  // The reports of the newest window of this probe at this source that waits; none where the file's
  // earlier version is no help in finding it. REQUIRES pending().
  Result<std::vector<LatestReport>> latest(std::string_view probe, std::string_view source);
  // Reports that cannot be packed are dropped, and counted in `dropped`.
  Status step(Database& database, ReportPacker& packer, BlockInsert& insert,
              std::uint64_t& dropped);

 private:
  bool pending_ = false;
  bool by_source_ = false;  // there is an index to find a source's windows
  Statement newest_;
  Statement latest_;
  Statement remove_;
  Statement remove_old_;
};

}  // namespace pingloom::controller
