// What happens to a batch: its reports are checked and go to the grid at once, then the batch waits
// for the ledger to commit it, and is acknowledged. A batch that was taken before only gets its
// acknowledgement again. Reports that are refused are left out of the ledger and counted by reason;
// their batch is committed and acknowledged all the same, or it would come again for ever. A batch
// that is only to be shown goes to the grid and no further. The control thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/control/batch_marks.h"
#include "controller/control/grid.h"
#include "controller/control/registry.h"
#include "controller/control/utc_ceiling.h"
#include "controller/history/ledger_writer.h"
#include "controller/model/batch_frame.h"
#include "controller/model/report_faults.h"
#include "controller/model/report_reader.h"

namespace pingloom::controller {

struct IntakeCounters {
  std::uint64_t batches_committed = 0;
  std::uint64_t batches_duplicate = 0;
  std::uint64_t batches_shown = 0;  // only shown: they come again to be committed
  std::uint64_t rows_committed = 0;
  std::uint64_t rows_ignored = 0;
  ReportFaults refused{};
};

class BatchIntake {
 public:
  // All of them outlive the intake.
  BatchIntake(Registry& registry, Grid& grid, BatchMarks& marks, LedgerWriter& ledger)
      : registry_(registry), grid_(grid), marks_(marks), ledger_(ledger) {}

  struct Verdict {
    std::optional<wire::BatchId> acknowledge;  // everything up to it was committed before
    std::uint64_t refused = 0;                 // the batch itself, or reports of it
    std::string first_fault;                   // the words for the first of them
  };
  // A frame of BatchKind kBatch or kLive; `frame` points into what `owner` holds.
  Verdict take(Agent& agent, std::string_view frame, std::shared_ptr<const void> owner, Now now);

  // The clocks have been read: windows may end kMaxAhead after the furthest that the wall clock
  // would have come to since. An earlier run's is the end of the newest window it committed.
  void noteClock(Now now) { ceiling_.note(now); }

  struct Acknowledgement {
    std::string host;
    wire::BatchId up_to;
  };
  // What the ledger has committed since; one for each agent.
  std::vector<Acknowledgement> takeCommitted();

  const IntakeCounters& counters() const { return counters_; }

 private:
  struct BadReport {
    ReportFault fault;
    std::string text;
  };
  void show(const Agent& agent, const BatchParts& parts, Now now);
  void commit(Agent& agent, const BatchParts& parts, LedgerBatch batch, Now now, Verdict& verdict);
  // Into the grid.
  tl::expected<ReportHead, BadReport> takeReport(const Agent& agent, wire::BatchId id,
                                                 std::string_view report, Now now);
  void refuse(const BadReport& bad, Verdict& verdict);

  Registry& registry_;
  Grid& grid_;
  BatchMarks& marks_;
  LedgerWriter& ledger_;
  ReportView view_;
  UtcCeiling ceiling_;
  IntakeCounters counters_;
};

}  // namespace pingloom::controller
