// The latest rows of every pair and the states derived from them; owner of what the board shows.
// Rows come with reports; states change with them, with agents that come and go, and with time, and
// only what these touch is derived again. Time is an argument; the control thread alone calls.
//
// A probe's N paths lie beside the rows of all paths together, and have states of their own; events
// are about the pair.
//
// Memory: one Row and two state bytes for each pair, N + 1 of both with N paths, whether it has a
// window yet or not; a source that never reported has no rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/control/registry.h"
#include "controller/model/batch_frame.h"
#include "controller/model/board.h"
#include "controller/model/deadline_queue.h"
#include "controller/model/event_batch.h"
#include "controller/model/report_reader.h"
#include "controller/model/state.h"

namespace pingloom::controller {

class Grid {
 public:
  // Both outlive the grid.
  Grid(const Registry& registry, Board& board) : registry_(registry), board_(board) {}

  // Gets every change of a state, beside the board. It outlives the grid.
  void keepEventsIn(EventBatch& batch) { kept_ = &batch; }

  // Rows of pairs that stay are kept.
  void setPlan(std::shared_ptr<const GridPlan> plan, Now now);
  const GridPlan& plan() const { return *plan_; }

  // Who measured a report: agent 0 is one of an earlier run of the controller.
  struct Origin {
    AgentId agent = 0;
    std::uint64_t incarnation = 0;
    Nanos reported_utc = 0;
  };
  struct Applied {
    std::uint64_t taken = 0;
    std::uint64_t ignored = 0;  // of pairs that left the plan, or older than what is known
  };
  // All of the report or nothing of it. Refuses a report that contradicts itself, also where its
  // rows would be ignored.
  Result<Applied> apply(ReportView& report, const ReportHead& head, const Origin& origin, Now now);

  void presenceChanged(const std::vector<IpAddress>& addresses);
  // Derives again what has changed or has become stale; a burst of changes takes at most a fifth
  // of the time.
  void runDue(Now now);
  Nanos nextDueUtc() const;

 private:
  struct Slot {
    std::shared_ptr<const SourceSnapshot> snapshot;  // never nullptr
    AgentId agent = 0;                               // that measured the rows
    bool dirty = false;
    Nanos reminder = kNever;  // its earliest entry in stale_
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
  // The snapshot of these rows, with every state as it is now.
  SourceSnapshot derive(Place place, std::shared_ptr<const SourceRows> rows, Now now) const;
  void refresh(Place place, std::shared_ptr<const SourceRows> rows, Now now);
  void noteChanges(const ProbeGrid& probe, const IpAddress& source, const SourceSnapshot& before,
                   const SourceSnapshot& after, Now now);
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
  DeadlineQueue<Place> stale_;  // UTC, as windows are
  std::vector<Place> dirty_;
  Nanos dirty_due_utc_ = 0;
  std::vector<StateEvent> events_;
  EventBatch* kept_ = nullptr;
};

}  // namespace pingloom::controller
