#include "probe/tcp/prober.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

namespace pingloom::probe::tcp {

Prober::Prober(const AgentContext& context, const EventLoop& loop, StallWatch& stalls,
               std::size_t max_in_flight)
    : context_(context),
      loop_(loop),
      stalls_(stalls),
      tasks_(ClockSource::kKernel, context.phase_seed, *context.clock, *context.windows),
      connects_(max_in_flight) {}

void Prober::setWork(const Work& work, Nanos now) { moved(tasks_.replace(work.assignments, now)); }

void Prober::startBurst(const std::shared_ptr<const Burst>& burst, Nanos now) {
  endBurst();
  tasks_.startBurst(burst, now);
  connects_.addTask();
}

void Prober::endBurst() {
  if (tasks_.hasBurst()) moved(tasks_.endBurst());
}

void Prober::moved(const std::vector<TaskMove>& moves) {
  connects_.move(moves, tasks_.tasks().size());
  std::deque<Held> held;
  for (Held& waiting : held_) {
    const TaskMove& move = moves[waiting.ping.task];
    if (move.task == kGone) continue;
    waiting.ping.task = move.task;
    waiting.ping.due.target = move.target(waiting.ping.due.target);
    if (waiting.ping.due.target != kGone) held.push_back(waiting);
  }
  held_ = std::move(held);
  next_task_ = 0;
}

void Prober::flush(Nanos now) {
  expire(now);
  const std::vector<TaskMove> all_gone(tasks_.tasks().size());
  tasks_.flush(now);
  connects_.move(all_gone, 0);
  held_.clear();
}

PairWindow& Prober::windowOf(const Connect& connect) {
  return tasks_[connect.task].windows.windowFor(connect.target, connect.window);
}

void Prober::count(const Connect& connect, ConnectVerdict verdict, const ConnectState& state,
                   Nanos elapsed) {
  countConnect(windowOf(connect), verdict, state, elapsed);
  switch (verdict) {
    case ConnectVerdict::kLost:
      return tell(PingEvent::kLost, connect, elapsed);
    case ConnectVerdict::kLostLate:
      return tell(PingEvent::kLate, connect, elapsed);
    case ConnectVerdict::kRefused:
      return tell(PingEvent::kRefused, connect, elapsed);
    case ConnectVerdict::kUnreachable:
      return tell(PingEvent::kUnreachable, connect, elapsed);
    case ConnectVerdict::kNone:
    case ConnectVerdict::kReceived:
    case ConnectVerdict::kStalled:
    case ConnectVerdict::kUndecided:
      return;
  }
}

void Prober::tell(PingEvent event, const Connect& connect, Nanos elapsed) const {
  if (context_.listener == nullptr) return;
  const plan::Assignment& assignment = *tasks_.tasks()[connect.task].assignment;
  context_.listener->pingEvent(event, assignment, assignment.destinations[connect.target], elapsed);
}

// ---- starting connects ----

void Prober::start(Nanos now) {
  retryHeld(now);
  std::size_t budget = kStartsPerRound;
  const std::size_t tasks = tasks_.tasks().size();
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto task = static_cast<std::uint32_t>((next_task_ + i) % tasks);
    ProbeSchedule& schedule = tasks_[task].schedule;
    while (budget > 0 && schedule.nextDue() <= now && makeRoom()) {
      due_.clear();
      tasks_.takeDue(task, now, 1, due_, now);
      if (due_.empty()) break;
      startPing({task, due_.front()});
      --budget;
    }
  }
  if (tasks > 0) next_task_ = (next_task_ + 1) % tasks;
}

SocketAddress Prober::targetOf(std::uint32_t task, std::uint32_t target) const {
  const plan::Assignment& assignment = *tasks_.tasks()[task].assignment;
  return {assignment.destinations[target],
          assignment.probe.port != 0 ? assignment.probe.port : context_.port};
}

void Prober::startPing(const Ping& ping) {
  Task& task = tasks_[ping.task];
  const plan::ProbeSpec& probe = task.assignment->probe;
  const SocketAddress target = targetOf(ping.task, ping.due.target);
  const Nanos sent_mono = monotonicNow();
  ConnectStart started =
      startConnect(task.assignment->source, target, {.traffic_class = probe.traffic_class});
  if (started.stage == ConnectStage::kExhausted) return hold(ping, sent_mono);
  Connect connect{std::move(started.socket), sent_mono, task.windows.open(sent_mono), ping.task,
                  ping.due.target};
  ++sent_;
  ++windowOf(connect).sent;
  lateness_.add(static_cast<std::uint64_t>(std::max<Nanos>(0, sent_mono - ping.due.due_mono)));
  if (started.stage != ConnectStage::kConnecting) {
    const ConnectState state{started.stage};
    count(connect, verdictOf(state, 0, probe.timeout, false), state, 0);
    return;
  }
  stalls_.watchUntil(sent_mono, sent_mono + probe.timeout);
  const int socket = connect.socket.get();
  const std::uint32_t slot = connects_.add(std::move(connect));
  // If this fails for lack of memory, the connect is inspected when it expires.
  (void)loop_.watch(socket, EPOLLOUT, connects_.keyOf(slot));
}

void Prober::hold(const Ping& ping, Nanos now) {
  const Nanos interval = tasks_[ping.task].assignment->probe.interval;
  if (now >= ping.due.due_mono + interval || held_.size() >= kMaxHeld) {
    ++skipped_;
    tasks_.countSkipped(ping.task, ping.due.target, now);
  } else {
    held_.push_back({ping, now + kRetry});
  }
}

void Prober::retryHeld(Nanos now) {
  for (std::size_t left = held_.size(); left > 0 && held_.front().retry_mono <= now; --left) {
    if (!makeRoom()) return;
    const Ping ping = held_.front().ping;
    held_.pop_front();
    startPing(ping);
  }
}

std::uint32_t Prober::oldestLingering() const {
  for (std::uint32_t task = 0; task < tasks_.tasks().size(); ++task) {
    const std::uint32_t slot = connects_.oldest(task, ConnectTable::kLingering);
    if (slot != ConnectTable::kNone) return slot;
  }
  return ConnectTable::kNone;
}

bool Prober::makeRoom() {
  if (!connects_.full()) return true;
  // A new ping is more useful than a late answer that is counted.
  const std::uint32_t slot = oldestLingering();
  if (slot == ConnectTable::kNone) return false;
  endLingering(slot);
  return true;
}

// ---- settling connects ----

void Prober::onReady(std::uint64_t key, Nanos now) {
  const std::uint32_t slot = connects_.find(key);
  if (slot == ConnectTable::kNone) return;
  if (connects_[slot].phase == ConnectPhase::kWaiting) {
    settle(slot, now);
  } else {
    settleLingering(slot, now);
  }
}

void Prober::settle(std::uint32_t slot, Nanos now) {
  const Connect& connect = connects_[slot];
  const ConnectState state = inspectConnect(connect.socket.get());
  const Nanos elapsed = now - connect.sent_mono;
  const bool stalled = stalls_.stalledDuring(connect.sent_mono, now);
  const ConnectVerdict verdict = verdictOf(state, elapsed, timeoutOf(connect.task), stalled);
  if (verdict == ConnectVerdict::kNone) return;
  count(connect, verdict, state, elapsed);
  if (verdict == ConnectVerdict::kUndecided) {
    connects_.linger(slot, ConnectPhase::kUndecided);
  } else if (state.stage == ConnectStage::kConnecting) {
    connects_.linger(slot, ConnectPhase::kLost);
  } else {
    connects_.remove(slot);
  }
}

void Prober::settleLingering(std::uint32_t slot, Nanos now) {
  const Connect& connect = connects_[slot];
  const ConnectState state = inspectConnect(connect.socket.get());
  if (state.stage == ConnectStage::kConnecting) return;
  const Nanos elapsed = now - connect.sent_mono;
  if (connect.phase == ConnectPhase::kUndecided) {
    const ConnectVerdict verdict = verdictOf(state, elapsed, timeoutOf(connect.task), true);
    count(connect, verdict, state, elapsed);
  } else if (state.stage == ConnectStage::kConnected || state.stage == ConnectStage::kRefused) {
    ++windowOf(connect).late;
    tell(PingEvent::kLate, connect, elapsed);
  }
  connects_.remove(slot);
}

void Prober::endLingering(std::uint32_t slot) {
  const Connect& connect = connects_[slot];
  if (connect.phase == ConnectPhase::kUndecided) {
    ++windowOf(connect).lost;
    tell(PingEvent::kLost, connect, timeoutOf(connect.task) + kWindowGrace);
  }
  const std::uint32_t task = connect.task;
  const std::uint32_t target = connect.target;
  const std::uint16_t port = sourcePortOf(connect.socket.get());
  connects_.remove(slot);
  silent_(task, target, port);
}

void Prober::expire(Nanos now) {
  for (std::uint32_t task = 0; task < tasks_.tasks().size(); ++task) {
    const Nanos timeout = timeoutOf(task);
    const auto oldest = [&](ConnectTable::Queue queue, Nanos age) {
      const std::uint32_t slot = connects_.oldest(task, queue);
      return slot != ConnectTable::kNone && connects_[slot].sent_mono + age <= now
                 ? slot
                 : ConnectTable::kNone;
    };
    std::uint32_t slot = ConnectTable::kNone;
    while ((slot = oldest(ConnectTable::kWaiting, timeout)) != ConnectTable::kNone) {
      settle(slot, now);
    }
    while ((slot = oldest(ConnectTable::kLingering, timeout + kWindowGrace)) !=
           ConnectTable::kNone) {
      settleLingering(slot, now);
      if (connects_.oldest(task, ConnectTable::kLingering) == slot) endLingering(slot);
    }
  }
}

Nanos Prober::nextWake() const {
  Nanos next = tasks_.nextClose();
  // Without room no ping can start before a connect ends.
  if (!connects_.full() || oldestLingering() != ConnectTable::kNone) {
    next = std::min(next, tasks_.nextDue());
    if (!held_.empty()) next = std::min(next, held_.front().retry_mono);
  }
  for (std::uint32_t task = 0; task < tasks_.tasks().size(); ++task) {
    Nanos age = timeoutOf(task);
    for (const auto queue : {ConnectTable::kWaiting, ConnectTable::kLingering}) {
      const std::uint32_t slot = connects_.oldest(task, queue);
      if (slot != ConnectTable::kNone) next = std::min(next, connects_[slot].sent_mono + age);
      age += kWindowGrace;
    }
  }
  return next;
}

void Prober::addTo(TransportCounters& counters) {
  counters.pings_sent += sent_;
  counters.pings_skipped += skipped_ + tasks_.skipped();
  counters.send_lateness.merge(lateness_);
  lateness_.clear();
}

}  // namespace pingloom::probe::tcp
