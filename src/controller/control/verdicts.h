// Draws conclusions from the judged pairs: lets the culprits be found, keeps the incidents, carries
// out orders about them, and publishes the verdict. The control thread.
#pragma once

#include <vector>

#include "common/instant.h"
#include "controller/control/grid.h"
#include "controller/control/order_board.h"
#include "controller/control/registry.h"
#include "controller/model/board.h"
#include "controller/verdict/agent_watch.h"
#include "controller/verdict/incident_keeper.h"
#include "controller/verdict/places.h"

namespace pingloom::controller {

class Verdicts {
 public:
  // How often conclusions are drawn. With many bad pairs they take at most a tenth of the time.
  static constexpr Nanos kInterval = 500 * kMillisecond;

  // REQUIRES: all outlive it.
  Verdicts(Grid& grid, const Registry& registry, Board& board, OrderBoard& orders)
      : grid_(grid), registry_(registry), board_(board), orders_(orders) {}

  // What the ledger kept; before everything else.
  void restore(const std::vector<VerdictRecord>& records, Instant now) {
    keeper_.restore(records, now);
  }
  void setPlan(std::shared_ptr<const GridPlan> plan, Instant now);
  // Carries out orders and, when it is time, draws conclusions.
  void run(Instant now);
  Nanos nextDue() const { return due_mono_; }  // CLOCK_MONOTONIC
  std::vector<VerdictRecord> takeRecords() { return keeper_.takeRecords(); }

 private:
  OrderAnswer carryOut(const VerdictOrder& order, Instant now);
  std::vector<Maintenance> maintenance(Nanos now_utc) const;
  void applyMaintenance(Nanos now_utc);
  std::vector<AgentWatch::Agent> agents() const;
  std::vector<Finding> find(Instant now);
  void publish(Instant now);

  Grid& grid_;
  const Registry& registry_;
  Board& board_;
  OrderBoard& orders_;
  Places places_;
  IncidentKeeper keeper_;
  AgentWatch agent_watch_;
  Grid::JudgedCounts counts_;
  std::vector<Maintenance> in_maintenance_;
  std::uint64_t published_judged_ = 0;
  Nanos due_mono_ = 0;
  Nanos published_mono_ = 0;
};

}  // namespace pingloom::controller
