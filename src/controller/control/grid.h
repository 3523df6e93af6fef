// The latest rows of every pair and the states derived from them. The grid owns what the board
// shows. Rows come with reports. States change with reports, with agents that come and go, and with
// time; only the states that these affect are derived again. The caller passes the time. The
// control thread.
// A probe with N paths has rows and states for each path and for all paths together; events concern
// the pair.
// Each window of a pair is judged once, when its row comes (docs/verdicts.md). Paths are not
// judged. Memory: one Row and two bytes of state for each pair of a source that has reported,
// whether the pair has a window or not; N + 1 times that with N paths. And for each such pair a
// PairHistory and a Judged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "controller/control/registry.h"
#include "controller/model/batch_frame.h"
#include "controller/model/board.h"
#include "controller/model/deadline_queue.h"
#include "controller/model/event_batch.h"
#include "controller/model/report_reader.h"
#include "controller/model/state.h"
#include "controller/verdict/baseline.h"
#include "controller/verdict/pair_judge.h"

namespace pingloom::controller {

class Grid {
 public:
  // REQUIRES: both outlive the grid.
  Grid(const Registry& registry, Board& board) : registry_(registry), board_(board) {}

  // Makes `batch` receive every change of a state, as the board does. REQUIRES: it outlives the
  // grid.
  void keepEventsIn(EventBatch& batch) { kept_ = &batch; }

  // Sets the plan; the rows of pairs that are also in the new plan are kept.
  void setPlan(std::shared_ptr<const GridPlan> plan, Instant now);
  const GridPlan& plan() const { return *plan_; }
  std::shared_ptr<const GridPlan> sharedPlan() const { return plan_; }

  // The origin of a report; agent 0 stands for an agent of an earlier run of the controller.
  struct Origin {
    AgentId agent = 0;
    std::uint64_t incarnation = 0;
    Nanos reported_utc = 0;
  };
  struct Applied {
    std::uint64_t taken = 0;
    std::uint64_t ignored = 0;  // rows of pairs that left the plan, or older than the known row
  };
  // Applies the whole report or nothing. Refuses a report that contradicts itself, even if its rows
  // would be ignored.
  Result<Applied> apply(ReportView& report, const ReportHead& head, const Origin& origin,
                        Instant now);

  // Pairs with one of these addresses are not judged from the next window on.
  void setMaintenance(std::unordered_set<IpAddress, IpAddressHash> addresses) {
    maintenance_ = std::move(addresses);
  }
  // The newest snapshot of each source, by probe.
  std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>> snapshots() const;
  struct JudgedCounts {
    std::uint64_t judged = 0;
    std::uint64_t bad = 0;
    Nanos oldest_end_utc = 0;  // end of the oldest window that is judged; 0: none
    Nanos window = 0;          // the longest window of a judged source
  };
  JudgedCounts judgedCounts() const;

  void presenceChanged(const std::vector<IpAddress>& addresses);
  // Derives the states that changed or became stale; under many changes this takes at most a fifth
  // of the time.
  void runDue(Instant now);
  Nanos nextDueUtc() const;

 private:
  struct Slot {
    std::shared_ptr<const SourceSnapshot> snapshot;  // never nullptr
    AgentId agent = 0;                               // the agent that measured the rows
    bool dirty = false;
    Nanos reminder = kNever;           // the time of its earliest entry in stale_
    std::vector<PairHistory> history;  // by destination; empty until it has reported
    std::uint64_t judged = 0;          // pairs of the snapshot
    std::uint64_t bad = 0;
  };
  // What a probe's pairs are compared with.
  struct Yardstick {
    DistanceClasses classes;
    ProbeBaseline baseline;
  };
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // probe, source
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  std::optional<Place> placeOf(std::string_view probe, const IpAddress& source) const;
  bool outdated(const SourceRows& have, AgentId agent, const ReportHead& head,
                const Origin& origin) const;
  Result<Applied> readInto(ReportView& report, const ProbeGrid& probe, const IpAddress& source,
                           Rows& rows);
  Result<Applied> readPath(ReportView& report, const ProbeGrid& probe, const ReportHead& head,
                           SourceRows& rows);
  Result<Applied> readOnly(ReportView& report);

  Nanos staleAt(std::uint32_t probe, const SourceRows& rows) const;
  // Returns a snapshot of these rows with all states derived at `now`.
  SourceSnapshot derive(Place place, std::shared_ptr<const SourceRows> rows, Instant now) const;
  // `counted`: the rows of the same window that were judged before, or nullptr; `fresh`: the rows
  // have not been judged yet.
  void refresh(Place place, std::shared_ptr<const SourceRows> rows, Instant now, bool fresh = false,
               const SourceRows* counted = nullptr);
  void judgeSource(Place place, SourceSnapshot& made, const SourceRows* counted, bool fresh,
                   Nanos now_mono);
  bool isJudged(const ProbeGrid& probe, Place place, std::size_t destination,
                const std::optional<PairState>& state) const;
  void resetYardsticks();
  void noteChanges(const ProbeGrid& probe, const IpAddress& source, const SourceSnapshot& before,
                   const SourceSnapshot& after, Instant now);
  void publishEvents();
  void watchStale(Place place);
  void markDirty(Place place);
  void markDestination(std::uint32_t probe, const IpAddress& address);
  Slot carryOver(const ProbeGrid& probe, const IpAddress& source) const;

  const Registry& registry_;
  Board& board_;
  std::shared_ptr<const GridPlan> plan_ = std::make_shared<GridPlan>();
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> probes_;
  std::vector<std::vector<Slot>> slots_;
  DeadlineQueue<Place> stale_;  // in UTC, like windows
  std::vector<Place> dirty_;
  Nanos dirty_due_utc_ = 0;
  std::vector<StateEvent> events_;
  std::vector<Yardstick> yardsticks_;  // by probe
  std::unordered_set<IpAddress, IpAddressHash> maintenance_;
  EventBatch* kept_ = nullptr;
};

}  // namespace pingloom::controller
