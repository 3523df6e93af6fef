// Starts connects by the schedules, finds out how they end, and counts them. Used by the event
// loop's thread, which calls in this order after each wake-up: onReady() for the connects that are
// ready, expire(), closeDue(), start().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "common/distribution.h"
#include "probe/event_loop.h"
#include "probe/stall_watch.h"
#include "probe/task_list.h"
#include "probe/tcp/connect_table.h"
#include "probe/tcp/connect_verdict.h"
#include "probe/transport.h"

namespace pingloom::probe::tcp {

// Bounds: `max_in_flight` connects at a time, beyond which pings wait for up to their interval and
// are then skipped; kMaxHeld pings that wait for a free port or descriptor.
class Prober {
 public:
  static constexpr std::size_t kStartsPerRound = 4;  // few, so that no answer waits for long
  static constexpr std::size_t kMaxHeld = 256;
  // Pings that found no free port or descriptor are tried again after this.
  static constexpr Nanos kRetry = 20 * kMillisecond;

  // `context`, `loop` and `stalls` outlive it.
  Prober(const AgentContext& context, const EventLoop& loop, StallWatch& stalls,
         std::size_t max_in_flight);

  void setWork(const Work& work, Nanos now);
  void startBurst(const std::shared_ptr<const Burst>& burst, Nanos now);
  void endBurst();
  void flush(Nanos now);

  void onReady(std::uint64_t key, Nanos now);
  void expire(Nanos now);
  void start(Nanos now);
  void closeDue(Nanos now) { tasks_.closeDue(now); }
  Nanos nextWake() const;
  TaskList& tasks() { return tasks_; }
  const TaskList& tasks() const { return tasks_; }
  // `silent` is called for each connect that nobody has answered, when its socket is closed, with
  // the port that it left from.
  using Silent = std::function<void(std::uint32_t task, std::uint32_t target, std::uint16_t port)>;
  void onSilent(Silent silent) { silent_ = std::move(silent); }
  // Where the connects of this task go.
  SocketAddress targetOf(std::uint32_t task, std::uint32_t target) const;

  // Adds the prober's counters and resets the lateness.
  void addTo(TransportCounters& counters);

 private:
  struct Ping {
    std::uint32_t task;
    ProbeSchedule::Due due;
  };
  struct Held {
    Ping ping;
    Nanos retry_mono;
  };

  void moved(const std::vector<TaskMove>& moves);
  std::uint32_t oldestLingering() const;
  bool makeRoom();
  void startPing(const Ping& ping);
  void hold(const Ping& ping, Nanos now);
  void retryHeld(Nanos now);
  // Counts the verdict if there is one. Otherwise the connect stays as it is.
  void settle(std::uint32_t slot, Nanos now);
  void settleLingering(std::uint32_t slot, Nanos now);
  // Ends a connect that has got no answer.
  void endLingering(std::uint32_t slot);
  PairWindow& windowOf(const Connect& connect);
  // Counts the verdict in the connect's window, and tells the listener of a bad one.
  void count(const Connect& connect, ConnectVerdict verdict, const ConnectState& state,
             Nanos elapsed);
  void tell(PingEvent event, const Connect& connect, Nanos elapsed) const;
  Nanos timeoutOf(std::uint32_t task) const {
    return tasks_.tasks()[task].assignment->probe.timeout;
  }

  const AgentContext& context_;
  const EventLoop& loop_;
  StallWatch& stalls_;
  TaskList tasks_;
  ConnectTable connects_;
  std::deque<Held> held_;
  std::size_t next_task_ = 0;  // the task that start() begins with
  std::uint64_t sent_ = 0;
  std::uint64_t skipped_ = 0;
  Distribution lateness_;
  std::vector<ProbeSchedule::Due> due_;
  Silent silent_ = [](std::uint32_t, std::uint32_t, std::uint16_t) {};
};

}  // namespace pingloom::probe::tcp
