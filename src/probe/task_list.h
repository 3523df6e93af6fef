// The tasks of one transport: each has an assignment, its schedule and its open windows. All
// transports use the class. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "probe/burst.h"
#include "probe/open_windows.h"
#include "probe/schedule.h"
#include "probe/transport.h"
#include "wire/probe_packet.h"

namespace pingloom::probe {

struct Task {
  std::shared_ptr<const plan::Assignment> assignment;
  std::uint32_t path;  // 0 if the probe has one path, otherwise the path's number from 1
  ProbeSchedule schedule;
  OpenWindows windows;
};

// Says where the exchanges in flight of a task belong after a plan change.
struct TaskMove {
  std::uint32_t task = kGone;          // the new number; kGone means to forget the exchanges
  std::vector<std::uint32_t> targets;  // from renumber(); empty if all numbers stay
  std::uint32_t target(std::uint32_t before) const {
    return targets.empty() ? before : targets[before];
  }
};

class TaskList {
 public:
  // `phase_seed` is AgentContext's. The clock and the queue outlive this. The origin's path is not
  // used.
  TaskList(WindowOrigin origin, std::uint64_t phase_seed, const WindowClock& clock,
           WindowQueue& queue);

  // Adopts a new plan. An assignment with several paths makes a task for each. Tasks of the same
  // probe, source and path keep their phases and open windows; if the window length has changed,
  // the open windows are closed as they are. Returns for each old task where it went.
  std::vector<TaskMove> replace(const std::vector<std::shared_ptr<const plan::Assignment>>& work,
                                Nanos now);

  // Adds the burst as the last task until endBurst() or flush(). A plan change does not affect it.
  // REQUIRES: !hasBurst().
  void startBurst(std::shared_ptr<const Burst> burst, Nanos now);
  // Drops the burst with its counts. Returns the same as replace(). REQUIRES: hasBurst().
  std::vector<TaskMove> endBurst();
  bool hasBurst() const { return burst_ != nullptr; }
  bool isBurst(std::uint32_t task) const { return hasBurst() && task + 1 == tasks_.size(); }
  // The burst's pings that have a verdict; none without a burst.
  std::vector<BurstPing> burstPings();

  std::vector<Task>& tasks() { return tasks_; }
  const std::vector<Task>& tasks() const { return tasks_; }
  Task& operator[](std::uint32_t task) { return tasks_[task]; }
  // Takes due pings from the task's schedule, as ProbeSchedule::take(), and counts those that the
  // schedule has skipped in the pairs' current windows.
  void takeDue(std::uint32_t task, Nanos until, std::size_t most,
               std::vector<ProbeSchedule::Due>& out, Nanos now);
  // Counts a ping that was due and is not sent, in the pair's current window.
  void countSkipped(std::uint32_t task, std::uint32_t target, Nanos now, std::uint32_t times = 1);
  // Counts a PING of another host in the task that pings back on the same path, if there is one:
  // the PING has come from `source` to this host's address `own`.
  void countArrival(const wire::ProbeMessage& ping, const IpAddress& source, const IpAddress& own,
                    Nanos now);
  // When the next ping is due; kNever if there is none.
  Nanos nextDue() const;
  // When closeDue() must be called next; kNever while no window is open.
  Nanos nextClose() const;
  // REQUIRES: the exchanges that expired by `now` have their verdicts.
  void closeDue(Nanos now);
  // Closes the open windows as they are and forgets all tasks.
  void flush(Nanos now);
  // The number of pings that the schedules have skipped since the start.
  std::uint64_t skipped() const;

 private:
  std::uint64_t seedOf(const plan::Assignment& assignment, std::uint32_t path) const;
  OpenWindows windowsOf(std::shared_ptr<const plan::Assignment> assignment,
                        std::uint32_t path) const;
  Task fresh(std::shared_ptr<const plan::Assignment> assignment, std::uint32_t path,
             Nanos now) const;
  // Gives `task` the changed assignment. The move's task is kGone if its exchanges cannot continue.
  TaskMove carryOver(Task& task, const std::shared_ptr<const plan::Assignment>& assignment,
                     Nanos now);

  WindowOrigin origin_;
  std::uint64_t phase_seed_;
  const WindowClock* clock_;
  WindowQueue* queue_;
  std::vector<Task> tasks_;
  std::shared_ptr<const Burst> burst_;  // nullptr without one; tasks_.back() is its task
  std::uint64_t skipped_before_ = 0;    // by tasks that are gone
};

}  // namespace pingloom::probe
