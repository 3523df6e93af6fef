// Packs what earlier versions of the ledger kept (ledger_schema.h), in small steps and the newest
// first, so that a large file is no reason to start late. Inside the caller's transactions. The
// ledger's thread.
#pragma once

#include "common/error.h"
#include "controller/history/report_packer.h"
#include "controller/sqlite.h"

namespace pingloom::controller {

class LedgerUpgrade {
 public:
  static constexpr int kWindowsInAStep = 16;

  // Whether there is anything to do.
  Status prepare(Database& database);
  bool pending() const { return pending_; }
  // Of what waits, the oldest: (start before, at most so many). REQUIRES pending().
  Statement& removeOld() { return remove_old_; }
  // Reports that cannot be packed are dropped, and counted in `dropped`. `insert` has the columns
  // of blocks as its parameters, in their order from probe on.
  Status step(Database& database, ReportPacker& packer, Statement& insert, std::uint64_t& dropped);

 private:
  bool pending_ = false;
  Statement newest_;
  Statement remove_;
  Statement remove_old_;
};

}  // namespace pingloom::controller
