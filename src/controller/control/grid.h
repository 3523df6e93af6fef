// Holds the latest rows of every pair and the states derived from them, which the board shows. Rows
// arrive in reports. States change when a report arrives, when an agent comes or goes, and with
// time; only the states that this affects are derived again. The control thread uses the grid and
// passes the time in.
// A probe with N paths has rows and states for each path and for all paths together; events are
// about the pair.
// Where several controllers share a history, the grid also has the rows that the agents of the
// others have reported; what follows from them is shown, and kept by the other controller. Each
// window of a pair is judged once, when its row arrives (docs/verdicts.md). Paths are not judged.
// Memory: a row of Rows for each pair that has a window, and for each of its paths. Besides,
// for each combination of a source that has reported and a destination, even if it is no pair: two
// bytes of state, as many for each path, a PairHistory and a Judged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "controller/control/latency_histograms.h"
#include "controller/control/registry.h"
#include "controller/model/batch_frame.h"
#include "controller/model/board.h"
#include "controller/model/deadline_queue.h"
#include "controller/model/event_batch.h"
#include "controller/model/report_reader.h"
#include "controller/model/severity_record.h"
#include "controller/model/state.h"
#include "controller/verdict/baseline.h"
#include "controller/verdict/pair_judge.h"

namespace pingloom::controller {

class Grid {
 public:
  // REQUIRES: both outlive the grid.
  Grid(const Registry& registry, Board& board) : registry_(registry), board_(board) {}

  // Makes `batch` receive every change of a state, like the board. REQUIRES: `batch` outlives the
  // grid.
  void keepEventsIn(EventBatch& batch) { kept_ = &batch; }
  // Returns the changes of severities that windows have caused since the last call, the oldest
  // first. There is at most one record for each report.
  std::vector<SeverityRecord> takeSeverities() { return std::exchange(severities_, {}); }
  // Makes `latency` count the rows of those reports that apply() is to count. REQUIRES: `latency`
  // outlives the grid, and setPlan() has not been called yet.
  void countLatencyIn(LatencyHistograms& latency) { latency_ = &latency; }

  // Sets the plan; the rows of pairs that are also in the new plan are kept.
  void setPlan(std::shared_ptr<const GridPlan> plan, Instant now);
  const GridPlan& plan() const { return *plan_; }
  std::shared_ptr<const GridPlan> sharedPlan() const { return plan_; }

  // The origin of a report; agent 0 stands for an agent of an earlier run of the controller.
  struct Origin {
    AgentId agent = 0;
    std::uint64_t incarnation = 0;
    Nanos reported_utc = 0;
    bool counted = true;     // whether the report was counted in the histograms before
    bool elsewhere = false;  // whether another controller keeps the report in the history
  };
  struct Applied {
    std::uint64_t taken = 0;
    std::uint64_t ignored = 0;  // rows of pairs that left the plan, or older than the known row
    bool shown = false;         // whether it is the newest window, or belongs to it
  };
  // Applies the whole report or nothing. A report that contradicts itself is refused even if its
  // rows would be ignored. `told`, unless it is nullptr, gets the rows that were taken, as other
  // controllers read them (relayed_rows.h); after a refusal it is unspecified.
  Result<Applied> apply(ReportView& report, const ReportHead& head, const Origin& origin,
                        Instant now, std::string* told = nullptr);
  // Applies what another controller tells of a report. `head` is the report's.
  Result<Applied> apply(const wire::RelayedReport& report, const ReportHead& head,
                        const Origin& origin, Instant now);

  // From their next window on, pairs with one of these addresses are not judged.
  void setMaintenance(std::unordered_set<IpAddress, IpAddressHash> addresses) {
    maintenance_ = std::move(addresses);
  }
  // Returns the newest snapshot of each source, by probe.
  std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>> snapshots() const;
  // Grows with every report that is shown.
  std::uint64_t reports() const { return reports_; }
  struct JudgedCounts {
    std::uint64_t judged = 0;
    std::uint64_t bad = 0;
    Nanos oldest_end_utc = 0;  // end of the oldest window that is judged; 0: none
    Nanos window = 0;          // the longest window of a judged source
  };
  JudgedCounts judgedCounts() const;

  void presenceChanged(const std::vector<IpAddress>& addresses);
  // Derives the states that may have changed or become stale. If there are many changes, it is due
  // less often, so that it takes at most a fifth of the time.
  void runDue(Instant now);
  Nanos nextDueUtc() const;

 private:
  struct Slot {
    std::shared_ptr<const SourceSnapshot> snapshot;  // never nullptr
    AgentId agent = 0;                               // the agent that measured the rows
    bool elsewhere = false;                          // as in Origin
    bool dirty = false;
    Nanos reminder = kNever;           // the time of its earliest entry in stale_
    std::vector<PairHistory> history;  // by destination; empty until it has reported
    std::uint64_t judged = 0;          // pairs of the snapshot
    std::uint64_t bad = 0;
    // Whether the history does not have the severities of the snapshot yet.
    bool unrecorded = true;
  };
  // The values that a probe's pairs are compared with.
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
  // Says how to use the rows of a report besides checking them.
  struct Use {
    std::optional<Place> place;  // nullopt: the plan does not have the report's source
    Rows* rows = nullptr;        // nullptr: the rows are not shown
    bool count = false;          // REQUIRES: place
  };
  using ReadRows = std::function<Result<Applied>(const Use&)>;
  Result<Applied> show(const wire::Report& fields, const ReportHead& head, const Origin& origin,
                       Instant now, const ReadRows& read);
  Result<Applied> readRows(ReportView& report, const Use& use, std::string* told);
  Result<Applied> readRelayedRows(std::string_view rows, const Use& use);

  Nanos staleAt(std::uint32_t probe, const SourceRows& rows) const;
  // Returns a snapshot of these rows with all states derived at `now`.
  SourceSnapshot derive(Place place, std::shared_ptr<const SourceRows> rows, Instant now) const;
  bool isHere(Place place) const;
  // `counted` are the rows of the same window that were judged before, or nullptr. `fresh` means
  // that the rows have not been judged yet.
  void refresh(Place place, std::shared_ptr<const SourceRows> rows, Instant now, bool fresh = false,
               const SourceRows* counted = nullptr);
  void judgeSource(Place place, SourceSnapshot& made, const SourceRows* counted, bool fresh,
                   Nanos now_mono);
  bool isJudged(const ProbeGrid& probe, Place place, std::size_t destination,
                const std::optional<PairState>& state) const;
  void resetYardsticks();
  void recordSeverities(Place place, Slot& slot, const SourceSnapshot& made, bool fresh);
  void noteChanges(Place place, const SourceSnapshot& before, const SourceSnapshot& after,
                   Instant now);
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
  std::uint64_t reports_ = 0;
  std::vector<Yardstick> yardsticks_;  // by probe
  std::unordered_set<IpAddress, IpAddressHash> maintenance_;
  EventBatch* kept_ = nullptr;
  std::vector<SeverityRecord> severities_;
  LatencyHistograms* latency_ = nullptr;
};

}  // namespace pingloom::controller
