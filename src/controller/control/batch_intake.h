// Takes in batches. The reports of a batch are checked and go to the grid at once; the batch is
// acknowledged when the ledger has committed it. A batch that was committed before is only
// acknowledged again. Refused reports are counted by reason and left out of the ledger, but their
// batch is committed and acknowledged, because the agent would resend it for ever. A batch that is
// only to be shown goes to the grid and not to the ledger. The control thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/control/batch_marks.h"
#include "controller/control/counted_batches.h"
#include "controller/control/grid.h"
#include "controller/control/registry.h"
#include "controller/history/ledger_writer.h"
#include "controller/model/batch_frame.h"
#include "controller/model/board.h"
#include "controller/model/report_reader.h"

namespace pingloom::controller {

struct IntakeCounters {
  std::uint64_t batches_committed = 0;
  std::uint64_t batches_duplicate = 0;
  // batches that were only shown; they arrive again to be committed
  std::uint64_t batches_shown = 0;
  std::uint64_t batches_relayed = 0;  // shown because another controller has told them
  ReportFaults relayed_refused{};     // of what other controllers have told
  std::uint64_t rows_committed = 0;
  std::uint64_t rows_ignored = 0;
  ReportFaults refused{};
};

// The wall clock as it would be if it had never been set back. After it was, the numbers of agents'
// windows, which only grow, are ahead of it until it has caught up, and are not in the future.
class UtcCeiling {
 public:
  // Call it with every reading of the clocks, before an agent can learn of the reading.
  void note(Instant now) { ahead_ = std::max(ahead_, now.utc - now.mono); }
  // It is never before now.utc.
  Nanos at(Instant now) {
    note(now);
    return now.mono + ahead_;
  }

 private:
  Nanos ahead_ = INT64_MIN;  // the most that UTC was ahead of CLOCK_MONOTONIC
};

class BatchIntake {
 public:
  // REQUIRES: all of them outlive the intake.
  BatchIntake(Registry& registry, Grid& grid, BatchMarks& marks, LedgerWriter& ledger)
      : registry_(registry), grid_(grid), marks_(marks), ledger_(ledger) {}

  struct Verdict {
    std::optional<wire::BatchId> acknowledge;  // everything up to this batch was committed before
    std::uint64_t refused = 0;  // number of refused reports, or 1 for the batch itself
    std::string first_fault;    // the reason of the first refusal
  };
  // Takes a frame of BatchKind kBatch or kLive; `frame` points into the memory that `owner` keeps.
  // `told`, unless it is nullptr, becomes what the grid shows of it; no reports if that is nothing.
  Verdict take(Agent& agent, std::string_view frame, std::shared_ptr<const void> owner, Instant now,
               wire::RelayedBatch* told = nullptr);
  // Shows what another controller tells of a batch. Returns the reason of the first refusal, or "".
  std::string takeRelayed(const Agent& agent, const wire::RelayedBatch& batch, Instant now);

  // Notes a reading of the clocks. Windows may end at most kMaxAhead after the highest wall-clock
  // time so far. The value of an earlier run is the end of the newest window that it committed.
  void noteClock(Instant now) { ceiling_.note(now); }

  struct Acknowledgement {
    std::string host;
    wire::BatchId up_to;
  };
  // Returns what the ledger has committed since the last call, one entry for each agent.
  std::vector<Acknowledgement> takeCommitted();

  const IntakeCounters& counters() const { return counters_; }

 private:
  struct BadReport {
    ReportFault fault;
    std::string text;
  };
  // The batch that a report belongs to.
  struct Origin {
    const Agent& agent;
    wire::BatchId id;
    bool counted = true;  // whether it was counted before
    wire::RelayedBatch* told = nullptr;
  };
  void show(const Agent& agent, const BatchParts& parts, wire::RelayedBatch* told, Instant now);
  void commit(Agent& agent, const BatchParts& parts, LedgerBatch batch, wire::RelayedBatch* told,
              Instant now, Verdict& verdict);
  // Applies a report to the grid.
  tl::expected<ReportHead, BadReport> takeReport(const Origin& origin, std::string_view report,
                                                 Instant now);
  tl::expected<ReportHead, BadReport> checkHead(const Agent& agent, const wire::Report& report,
                                                Instant now);
  void refuse(const BadReport& bad, Verdict& verdict);

  Registry& registry_;
  Grid& grid_;
  BatchMarks& marks_;
  LedgerWriter& ledger_;
  CountedBatches counted_;
  ReportView view_;
  UtcCeiling ceiling_;
  IntakeCounters counters_;
};

}  // namespace pingloom::controller
