// From PING to verdict: what a transport's own pings have come to, without sockets or clocks. The
// transport tells it what happened and when; the verdicts go into the tasks' open windows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/address.h"
#include "probe/exchange_table.h"
#include "probe/stall_watch.h"
#include "probe/task_list.h"
#include "probe/transport.h"
#include "wire/probe_packet.h"

namespace pingloom::probe {

// Why a PING did not arrive, where the network or the kernel says so.
enum class Failure : std::uint8_t { kRefused, kUnreachable };

// An answer as it was received.
struct Answer {
  wire::ProbeMessage message;
  SocketAddress from;
  std::optional<std::uint64_t> ticks;  // when it came, on the transport's clock
};

// What a stall of this process or of the responder's makes of an exchange.
enum class StallRule : std::uint8_t {
  kSpoils,          // it is anomalous, whatever its timestamps say
  kSpoilsSoftware,  // only where the stalled side's timestamps are this process's own: those of the
                    // kernel or a NIC are true whenever somebody gets round to reading them
};

// An exchange is counted in its window (sent included) when its verdict is known, at the latest
// kWindowGrace after its timeout; until then its answers find it, duplicates too. One thread.
// `tasks` and `stalls` outlive this. Bound: ExchangeTable::kMax.
class Exchanges {
 public:
  // `port`: where targets listen unless their probe says otherwise; 0 where there are no ports.
  Exchanges(TaskList& tasks, const StallWatch& stalls, const TickClock& clock, StallRule rule,
            std::uint16_t port)
      : tasks_(&tasks), stalls_(&stalls), clock_(clock), rule_(rule), port_(port) {}

  // Before the PING is handed over; nullptr where the table is full.
  Exchange* open(std::uint32_t task, std::uint32_t target, std::uint64_t nonce, const Instant& now);
  // T0 at the very last: right before the call that sends this one and those opened after it.
  void sending(std::uint32_t id, const Instant& now);
  // The PING did not leave and is not counted.
  void cancel(std::uint32_t id);
  // T1.
  void stamped(std::uint32_t id, std::uint64_t t1);
  // The PING could not be sent.
  void failed(std::uint32_t id, Failure failure);
  // An ICMP error came back with this much of the PING in it.
  void failedInNetwork(const wire::ProbeMessage& quoted, Failure failure);
  // A PONG or an ACK; says why it was dropped.
  std::optional<DropReason> answered(const Answer& answer, const Instant& now);

  // The PING of an open exchange; its sender adds what only the transport knows.
  wire::ProbeMessage pingOf(const Exchange& exchange) const;

  Nanos nextExpiry() const { return table_.nextExpiry(); }
  // When expire() must be called; kNever while there is no exchange. Nothing but a window's end
  // needs a verdict, so it is a little later than nextExpiry(): another wake-up often comes first.
  Nanos nextWake() const;
  // REQUIRES: what arrived before `now` was passed to answered(), however late that call was.
  void expire(Nanos now);

  // After a plan change: exchanges of pairs that are gone are forgotten.
  void move(const std::vector<TaskMove>& moves);
  void forgetAll();
  // Exchanges that nothing has come back from and that which(task, target) picks are not counted:
  // what they were sent with is gone.
  template <typename Which>
  void cancelOpen(Which&& which) {
    table_.forEach([&](Exchange& exchange) {
      const bool open = exchange.state == ExchangeState::kOpen;
      if (open && which(exchange.task, exchange.target)) table_.release(exchange);
    });
  }
  // Called for each exchange that expires unanswered.
  void onLost(std::function<void(std::uint32_t task, std::uint32_t target)> lost) {
    lost_ = std::move(lost);
  }
  // nullptr where there is none with this id (any more).
  const Exchange* find(std::uint32_t id) { return table_.find(id); }
  std::size_t size() const { return table_.size(); }

 private:
  SocketAddress targetOf(const Exchange& exchange) const;
  PairWindow& windowOf(const Exchange& exchange);
  void pong(Exchange& exchange, const Answer& answer, const Instant& now);
  void ack(Exchange& exchange, const Answer& answer);
  void settle(Exchange& exchange);
  void fail(Exchange& exchange, Failure failure);
  bool spoils(const wire::ProbeMessage& message) const;
  bool stalledMeanwhile(const ExchangeTimes& times) const;

  TaskList* tasks_;
  const StallWatch* stalls_;
  TickClock clock_;
  StallRule rule_;
  std::uint16_t port_;
  ExchangeTable table_;
  std::function<void(std::uint32_t, std::uint32_t)> lost_ = [](std::uint32_t, std::uint32_t) {};
};

}  // namespace pingloom::probe
