#include "probe/task_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "plan/flow_labels.h"

namespace pingloom::probe {
namespace {

bool isSame(const Task& task, const plan::Assignment& assignment, std::uint32_t path) {
  return task.path == path && task.assignment->probe.name == assignment.probe.name &&
         task.assignment->source == assignment.source;
}

}  // namespace

TaskList::TaskList(WindowOrigin origin, std::uint64_t phase_seed, const WindowClock& clock,
                   WindowQueue& queue)
    : origin_(std::move(origin)), phase_seed_(phase_seed), clock_(&clock), queue_(&queue) {}

std::uint64_t TaskList::seedOf(const plan::Assignment& assignment, std::uint32_t path) const {
  const std::uint64_t name = std::hash<std::string_view>()(assignment.probe.name);
  return phase_seed_ ^ name ^ (IpAddressHash()(assignment.source) << 1) ^ path * 0x9E3779B97F4A7C15;
}

OpenWindows TaskList::windowsOf(std::shared_ptr<const plan::Assignment> assignment,
                                std::uint32_t path) const {
  return {std::move(assignment), WindowOrigin(origin_.clock, origin_.device, path), *clock_,
          *queue_};
}

Task TaskList::fresh(std::shared_ptr<const plan::Assignment> assignment, std::uint32_t path,
                     Nanos now) const {
  const std::uint64_t seed = seedOf(*assignment, path);
  const Nanos interval = assignment->probe.interval;
  const std::size_t targets = assignment->destinations.size();
  const Nanos first = ProbeSchedule::firstDue(interval, targets, now, seed);
  OpenWindows windows = windowsOf(assignment, path);
  return {std::move(assignment), path, ProbeSchedule(interval, targets, first, seed),
          std::move(windows)};
}

TaskMove TaskList::carryOver(Task& task, const std::shared_ptr<const plan::Assignment>& assignment,
                             Nanos now) {
  TaskMove move;
  const bool same_targets = assignment->destinations == task.assignment->destinations;
  const bool same_interval = assignment->probe.interval == task.assignment->probe.interval;
  const auto numbers = renumber(task.assignment->destinations, assignment->destinations);
  if (!same_targets || !same_interval) {
    skipped_before_ += task.schedule.skipped();
    task.schedule =
        ProbeSchedule(task.schedule, numbers, assignment->probe.interval,
                      assignment->destinations.size(), now, seedOf(*assignment, task.path));
  }
  if (task.windows.keeps(*assignment)) {
    task.windows.reassign(assignment, numbers);
    move.task = 0;  // the caller sets the number
    if (!same_targets) move.targets = numbers;
  } else {
    task.windows.flush(now);
    task.windows = windowsOf(assignment, task.path);
  }
  task.assignment = assignment;
  return move;
}

std::vector<TaskMove> TaskList::replace(
    const std::vector<std::shared_ptr<const plan::Assignment>>& work, Nanos now) {
  std::vector<Task> before = std::exchange(tasks_, {});
  std::vector<TaskMove> moves(before.size());
  std::vector<bool> carried(before.size(), false);
  if (burst_ != nullptr) carried.back() = true;
  const auto place = [&](const std::shared_ptr<const plan::Assignment>& assignment,
                         std::uint32_t path) {
    std::size_t old_number = 0;
    while (old_number < before.size() &&
           (carried[old_number] || !isSame(before[old_number], *assignment, path))) {
      ++old_number;
    }
    if (old_number == before.size()) {
      tasks_.push_back(fresh(assignment, path, now));
      return;
    }
    carried[old_number] = true;
    moves[old_number] = carryOver(before[old_number], assignment, now);
    if (moves[old_number].task != kGone) {
      moves[old_number].task = static_cast<std::uint32_t>(tasks_.size());
    }
    tasks_.push_back(std::move(before[old_number]));
  };
  for (const auto& assignment : work) {
    const std::uint32_t paths = assignment->probe.paths;
    if (paths <= 1) place(assignment, 0);
    for (std::uint32_t path = 1; paths > 1 && path <= paths; ++path) place(assignment, path);
  }
  if (burst_ != nullptr) {
    moves.back().task = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back(std::move(before.back()));
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!carried[i]) skipped_before_ += before[i].schedule.skipped();
  }
  return moves;
}

void TaskList::startBurst(std::shared_ptr<const Burst> burst, Nanos now) {
  const auto& assignment = burst->assignment;
  tasks_.push_back({assignment, burst->path,
                    ProbeSchedule::once(burst->gap, assignment->destinations.size(), now),
                    windowsOf(assignment, burst->path)});
  burst_ = std::move(burst);
}

std::vector<TaskMove> TaskList::endBurst() {
  std::vector<TaskMove> moves(tasks_.size());
  for (std::uint32_t task = 0; task + 1 < moves.size(); ++task) moves[task].task = task;
  skipped_before_ += tasks_.back().schedule.skipped();
  tasks_.pop_back();
  burst_.reset();
  return moves;
}

std::vector<BurstPing> TaskList::burstPings() {
  std::vector<BurstPing> pings;
  if (burst_ == nullptr) return pings;
  const auto count = static_cast<std::uint32_t>(burst_->assignment->destinations.size());
  for (std::uint32_t target = 0; target < count; ++target) {
    // A burst has only one window, whatever its number.
    const PairWindow& counts = tasks_.back().windows.windowFor(target, 0);
    if (const auto ping = verdictOf(counts, target + 1)) pings.push_back(*ping);
  }
  return pings;
}

void TaskList::takeDue(std::uint32_t task, Nanos until, std::size_t most,
                       std::vector<ProbeSchedule::Due>& out, Nanos now) {
  ProbeSchedule& schedule = tasks_[task].schedule;
  schedule.take(until, most, out);
  schedule.forEachSkipped([&](std::uint32_t target, std::uint64_t times) {
    countSkipped(task, target, now, static_cast<std::uint32_t>(times));
  });
}

void TaskList::countSkipped(std::uint32_t task, std::uint32_t target, Nanos now,
                            std::uint32_t times) {
  OpenWindows& windows = tasks_[task].windows;
  const std::uint64_t window = windows.open(now);
  windows.windowFor(target, window).skipped += times;
}

void TaskList::countArrival(const wire::ProbeMessage& ping, const IpAddress& source,
                            const IpAddress& own, Nanos now) {
  if (!ping.counted()) return;
  for (std::uint32_t number = 0; number < tasks_.size(); ++number) {
    Task& task = tasks_[number];
    if (plan::flowLabelOf(task.path) != ping.answer_label || isBurst(number) ||
        task.windows.probeTag() != ping.probe || task.assignment->source != own) {
      continue;
    }
    const plan::AddressList& targets = task.assignment->destinations;
    const auto target = std::lower_bound(targets.begin(), targets.end(), source);
    if (target == targets.end() || *target != source) continue;
    task.windows.arrived(static_cast<std::uint32_t>(target - targets.begin()), ping.window, now);
    return;
  }
}

Nanos TaskList::nextDue() const {
  Nanos next = kNever;
  for (const Task& task : tasks_) next = std::min(next, task.schedule.nextDue());
  return next;
}

Nanos TaskList::nextClose() const {
  Nanos next = kNever;
  for (const Task& task : tasks_) next = std::min(next, task.windows.nextClose());
  return next;
}

void TaskList::closeDue(Nanos now) {
  for (Task& task : tasks_) {
    if (task.windows.nextClose() <= now) task.windows.closeDue(now);
  }
}

void TaskList::flush(Nanos now) {
  if (hasBurst()) endBurst();
  skipped_before_ = skipped();
  for (Task& task : tasks_) task.windows.flush(now);
  tasks_.clear();
}

std::uint64_t TaskList::skipped() const {
  std::uint64_t total = skipped_before_;
  for (const Task& task : tasks_) total += task.schedule.skipped();
  return total;
}

}  // namespace pingloom::probe
