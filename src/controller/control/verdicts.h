// Draws conclusions from the judged pairs: has the culprits found, keeps the incidents, carries out
// orders about them, and publishes the verdict. Where several controllers share a history, only the
// leader does so; the others show what it has written. It runs on the control thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/time.h"
#include "controller/control/fabric_confirm.h"
#include "controller/control/grid.h"
#include "controller/control/order_board.h"
#include "controller/control/registry.h"
#include "controller/model/board.h"
#include "controller/verdict/agent_watch.h"
#include "controller/verdict/fabric_watch.h"
#include "controller/verdict/incident_keeper.h"
#include "controller/verdict/places.h"

namespace pingloom::controller {

class Verdicts {
 public:
  // How often conclusions are drawn. With many bad pairs they take at most a tenth of the time.
  static constexpr Nanos kInterval = 50 * kMillisecond;

  // REQUIRES: all arguments outlive it.
  Verdicts(Grid& grid, const Registry& registry, Board& board, OrderBoard& orders,
           BurstBoard& bursts)
      : grid_(grid),
        registry_(registry),
        board_(board),
        orders_(orders),
        fabric_confirm_(bursts),
        fabric_watch_(board) {}

  // Takes over what the ledger has kept, and publishes it: a reader of the board would take an
  // empty verdict for the end of all incidents. It is called once, before the board has readers.
  void restore(const std::vector<VerdictRecord>& records, Instant now) {
    keeper_.restore(records, now);
    publish(now);
  }
  // Shows what another controller has concluded, and draws no conclusions any more.
  void follow(const std::vector<VerdictRecord>& records, Instant now);
  // Draws conclusions from now on, beginning with what the former leader has written.
  void lead(const std::vector<VerdictRecord>& records, Instant now);
  // Draws no conclusions until lead(), and shows the last ones.
  void stopLeading() { leads_ = false; }
  // Goes on after stopLeading(), if no other controller has led meanwhile.
  void resumeLeading() { leads_ = true; }
  void setPlan(std::shared_ptr<const GridPlan> plan, Instant now);
  // Carries out orders, and draws conclusions when that is due.
  void run(Instant now);
  Nanos nextDue() const { return leads_ ? due_mono_ : kNever; }  // CLOCK_MONOTONIC
  // Pairs that shall be probed too, for links that few flows cross.
  std::vector<CoverPairs> takeChosen() { return fabric_watch_.takeChosen(); }
  std::vector<VerdictRecord> takeRecords() { return keeper_.takeRecords(); }

 private:
  void replaceAll(const std::vector<VerdictRecord>& records, Instant now);
  OrderAnswer carryOut(const VerdictOrder& order, Instant now);
  std::vector<Maintenance> maintenance(Nanos now_utc) const;
  void applyMaintenance(Nanos now_utc);
  std::vector<AgentWatch::Agent> agents() const;
  std::vector<Finding> find(Instant now);
  void watchFabric(Nanos now_mono);
  bool isExplained(const Finding& finding) const;
  bool waitsForAgents(const Finding& finding, Nanos now_utc) const;
  void addEvidenceOfHosts(Finding& finding, Instant now) const;
  void publish(Instant now);

  Grid& grid_;
  const Registry& registry_;
  Board& board_;
  OrderBoard& orders_;
  std::shared_ptr<const Places> places_ = std::make_shared<Places>();
  bool leads_ = true;
  std::optional<std::vector<VerdictRecord>> followed_;  // what follow() shows at present
  IncidentKeeper keeper_;
  AgentWatch agent_watch_;
  FabricReport fabric_;  // the newest
  FabricConfirm fabric_confirm_;
  // What the last look saw: the paths' version, and the number of reports.
  std::pair<std::uint64_t, std::uint64_t> watched_;
  Grid::JudgedCounts counts_;
  std::vector<Maintenance> in_maintenance_;
  std::uint64_t published_judged_ = 0;
  Nanos due_mono_ = 0;
  Nanos published_mono_ = 0;
  FabricWatch fabric_watch_;  // its thread ends before the rest
};

}  // namespace pingloom::controller
