// What happens to a batch: its reports are checked and go to the grid at once, then the batch waits
// for the ledger to commit it, and is acknowledged. A batch that was taken before only gets its
// acknowledgement again. The control thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/batch_frame.h"
#include "controller/batch_marks.h"
#include "controller/grid.h"
#include "controller/ledger_writer.h"
#include "controller/registry.h"

namespace pingloom::controller {

struct IntakeCounters {
  std::uint64_t batches_committed = 0;
  std::uint64_t batches_duplicate = 0;
  std::uint64_t rows_committed = 0;
  std::uint64_t rows_ignored = 0;
};

class BatchIntake {
 public:
  // All of them outlive the intake.
  BatchIntake(Registry& registry, Grid& grid, BatchMarks& marks, LedgerWriter& ledger)
      : registry_(registry), grid_(grid), marks_(marks), ledger_(ledger) {}

  struct Verdict {
    std::optional<BatchId> acknowledge;  // everything up to it was committed before
    std::uint64_t bad_messages = 0;      // the batch itself, or reports of it
    std::string first_fault;             // the words for the first of them
  };
  // `bytes` point into what `owner` holds.
  Verdict take(Agent& agent, std::string_view bytes, std::shared_ptr<const void> owner, Now now);

  struct Acknowledgement {
    std::string host;
    BatchId up_to;
  };
  // What the ledger has committed since; one for each agent.
  std::vector<Acknowledgement> takeCommitted();

  const IntakeCounters& counters() const { return counters_; }

 private:
  std::optional<Error> takeReport(const Agent& agent, BatchId id, std::string_view report, Now now,
                                  LedgerBatch& batch);

  Registry& registry_;
  Grid& grid_;
  BatchMarks& marks_;
  LedgerWriter& ledger_;
  ReportView view_;
  IntakeCounters counters_;
};

}  // namespace pingloom::controller
