// Takes the paths that agents have traced, and puts them on the board. All input is hostile: an
// agent may tell only of flows that start at its own addresses and that the plan has. The control
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control.pb.h"
#include "controller/control/registry.h"
#include "controller/model/board.h"
#include "controller/model/path_change.h"

namespace pingloom::controller {

class PathIntake {
 public:
  static constexpr Nanos kForgetEvery = kMinute;

  // REQUIRES: both outlive it.
  PathIntake(const Registry& registry, Board& board) : registry_(registry), board_(board) {}

  void setPlan(std::shared_ptr<const GridPlan> plan) { plan_ = std::move(plan); }
  // Returns what is wrong with the first path that is refused, if any. The others are taken.
  std::optional<std::string> take(const Agent& agent, const wire::PathReport& report,
                                  Nanos now_utc);
  void runDue(Instant now);
  // What the history is to keep of the changes since the last call. Another controller keeps those
  // of the agents that are registered with it.
  std::vector<PathChange> takeChanges(Nanos now_utc);
  const PathCounts& counters() const { return counters_; }

 private:
  bool hasFlow(const TracedPath& path) const;

  const Registry& registry_;
  Board& board_;
  std::shared_ptr<const GridPlan> plan_ = std::make_shared<GridPlan>();
  PathCounts counters_;
  PathChangeBatch changes_;
  Nanos forget_due_mono_ = 0;
};

}  // namespace pingloom::controller
