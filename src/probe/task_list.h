// What one transport works on: for each assignment its schedule and its open windows. Shared by the
// transports; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "probe/burst.h"
#include "probe/open_windows.h"
#include "probe/schedule.h"
#include "probe/transport.h"

namespace pingloom::probe {

struct Task {
  std::shared_ptr<const plan::Assignment> assignment;
  std::uint32_t path;  // 0, or which of the probe's several paths, from 1
  ProbeSchedule schedule;
  OpenWindows windows;
};

// Where a task's exchanges that are under way are found after a plan change.
struct TaskMove {
  std::uint32_t task = kGone;          // its new number; kGone: forget the exchanges
  std::vector<std::uint32_t> targets;  // as renumber() makes it; empty: all as before
  std::uint32_t target(std::uint32_t before) const {
    return targets.empty() ? before : targets[before];
  }
};

class TaskList {
 public:
  // `phase_seed` is the host's (AgentContext); the clock and the queue outlive this. The origin's
  // path is not used.
  TaskList(WindowOrigin origin, std::uint64_t phase_seed, const WindowClock& clock,
           WindowQueue& queue);

  // A new plan. An assignment of several paths makes a task for each. Those of the same probe,
  // source and path keep their phases and open windows. A changed window length closes the open
  // windows as they stand. [t] says where the old task t went.
  std::vector<TaskMove> replace(const std::vector<std::shared_ptr<const plan::Assignment>>& work,
                                Nanos now);

  // One more task, behind the others, until endBurst() or flush(); a plan change leaves it alone.
  // REQUIRES: !hasBurst().
  void startBurst(std::shared_ptr<const Burst> burst, Nanos now);
  // Drops it with its counts; like replace(). REQUIRES: hasBurst().
  std::vector<TaskMove> endBurst();
  bool hasBurst() const { return burst_ != nullptr; }
  // Those of its pings that have their verdict; none where there is no burst.
  std::vector<BurstPing> burstPings();

  std::vector<Task>& tasks() { return tasks_; }
  const std::vector<Task>& tasks() const { return tasks_; }
  Task& operator[](std::uint32_t task) { return tasks_[task]; }
  Nanos nextDue() const;    // kNever: not at all
  Nanos nextClose() const;  // likewise
  // After the exchanges that expired by `now` have their verdicts.
  void closeDue(Nanos now);
  // Hands over the open windows as they stand and forgets all tasks.
  void flush(Nanos now);
  std::uint64_t skipped() const;  // by the schedules, since the start

 private:
  std::uint64_t seedOf(const plan::Assignment& assignment, std::uint32_t path) const;
  OpenWindows windowsOf(std::shared_ptr<const plan::Assignment> assignment,
                        std::uint32_t path) const;
  Task fresh(std::shared_ptr<const plan::Assignment> assignment, std::uint32_t path,
             Nanos now) const;
  // Makes `task` the assignment's. The move's task is kGone where its exchanges cannot go on.
  TaskMove carryOver(Task& task, const std::shared_ptr<const plan::Assignment>& assignment,
                     Nanos now);

  WindowOrigin origin_;
  std::uint64_t phase_seed_;
  const WindowClock* clock_;
  WindowQueue* queue_;
  std::vector<Task> tasks_;
  std::shared_ptr<const Burst> burst_;  // tasks_.back() is its task; nullptr: none
  std::uint64_t skipped_before_ = 0;    // by tasks that are gone
};

}  // namespace pingloom::probe
