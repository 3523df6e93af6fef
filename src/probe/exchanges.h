// Follows a transport's own PINGs to their verdicts, without sockets or clocks. The transport
// reports what happened and when, and the verdicts are counted in the tasks' open windows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/address.h"
#include "probe/exchange_table.h"
#include "probe/ping_listener.h"
#include "probe/stall_watch.h"
#include "probe/task_list.h"
#include "probe/transport.h"
#include "wire/probe_packet.h"

namespace pingloom::probe {

// Why a PING did not arrive, as told by the network or the kernel.
enum class Failure : std::uint8_t { kRefused, kUnreachable };

// A PONG or an ACK as it was received. A PONG may tell of earlier exchanges too.
struct Answer {
  wire::ProbeMessage message;
  SocketAddress from;
  std::optional<std::uint64_t> ticks;  // its arrival on the transport's clock
};

// The effect on an exchange of a stall of this process or of the responder's.
enum class StallRule : std::uint8_t {
  // The exchange is anomalous, whatever its timestamps say.
  kSpoils,
  // The exchange is anomalous if the stalled process reads its timestamps from its own clock.
  // Timestamps of a kernel or a NIC stay correct, however late they are read.
  kSpoilsSoftware,
};

// An exchange is counted in its window, as sent and with its verdict, when the verdict is known: at
// the latest kWindowGrace after its timeout. Until then its answers and their duplicates find it.
// One thread. `tasks` and `stalls` outlive this. Bound: ExchangeTable::kMax exchanges.
class Exchanges {
 public:
  // Targets listen on `port` unless their probe names another; 0 for transports without ports.
  Exchanges(TaskList& tasks, const StallWatch& stalls, const TickClock& clock, StallRule rule,
            std::uint16_t port)
      : tasks_(&tasks), stalls_(&stalls), clock_(clock), rule_(rule), port_(port) {}

  // Called just before the PING is sent; it names the window of this moment, and is counted in it.
  // Returns nullptr when the table is full.
  Exchange* open(std::uint32_t task, std::uint32_t target, std::uint64_t nonce, const Instant& now);
  // Sets T0. Called right before the call that sends this PING and those opened after it.
  void sending(std::uint32_t id, const Instant& now);
  // Drops the exchange of a PING that did not leave; it is not counted.
  void cancel(std::uint32_t id);
  // Sets T1.
  void stamped(std::uint32_t id, std::uint64_t t1);
  // Settles the exchange of a PING that could not be sent.
  void failed(std::uint32_t id, Failure failure);
  // Settles the exchange of a PING that an ICMP error has quoted.
  void failedInNetwork(const wire::ProbeMessage& quoted, Failure failure);
  // Handles a PONG or an ACK. Returns the reason if the packet has to be dropped.
  std::optional<DropReason> answered(const Answer& answer, const Instant& now);

  // The PING of an open exchange; its sender adds what only the transport knows.
  wire::ProbeMessage pingOf(const Exchange& exchange) const;

  Nanos nextExpiry() const { return table_.nextExpiry(); }
  // When expire() must be called; kNever while there is no exchange. Nothing but a window's end
  // needs a verdict, so it is a little later than nextExpiry(): another wake-up often comes first.
  // A listener hears of a lost ping at most kListenerSlack after its timeout.
  Nanos nextWake() const;
  // REQUIRES: everything that arrived before `now` has been passed to answered().
  void expire(Nanos now);

  // Called after a plan change. Exchanges of pairs that are gone are forgotten.
  void move(const std::vector<TaskMove>& moves);
  // Counts the answered exchanges as they stand and forgets all. The windows are still open.
  void settleAndForgetAll();
  // Drops the unanswered exchanges that which(task, target) selects, without counting them, because
  // the endpoint that sent them or would receive them is gone.
  template <typename Which>
  void cancelOpen(Which&& which) {
    table_.forEach([&](Exchange& exchange) {
      const bool open = exchange.state == ExchangeState::kOpen;
      if (open && which(exchange.task, exchange.target)) table_.release(exchange);
    });
  }
  // `lost` is called for each exchange that expires unanswered.
  void onLost(std::function<void(std::uint32_t task, std::uint32_t target)> lost) {
    lost_ = std::move(lost);
  }
  // Hears of exchanges that go wrong; it outlives this.
  void setListener(PingListener* listener) { listener_ = listener; }
  // As AgentContext::one_off.
  void setOneOff(bool one_off) { one_off_ = one_off; }
  // nullptr where there is none with this id (any more).
  const Exchange* find(std::uint32_t id) { return table_.find(id); }
  std::size_t size() const { return table_.size(); }

 private:
  SocketAddress targetOf(const Exchange& exchange) const;
  PairWindow& windowOf(const Exchange& exchange);
  void pong(Exchange& exchange, const Answer& answer, const Instant& now);
  void ack(Exchange& exchange, const Answer& answer);
  void told(const wire::Residence& residence, const Answer& answer);
  static bool awaitsAck(const Exchange& exchange);
  void acknowledge(Exchange& exchange, bool spoilt, AckState state, Nanos responder_ns);
  void settle(Exchange& exchange);
  void fail(Exchange& exchange, Failure failure);
  void tell(PingEvent event, const Exchange& exchange, Nanos now) const;
  bool spoils(const wire::ProbeMessage& message) const;
  bool spoilsBy(std::uint8_t clock) const;
  bool stalledMeanwhile(const ExchangeTimes& times) const;

  TaskList* tasks_;
  const StallWatch* stalls_;
  TickClock clock_;
  StallRule rule_;
  std::uint16_t port_;
  ExchangeTable table_;
  PingListener* listener_ = nullptr;
  bool one_off_ = false;
  std::function<void(std::uint32_t, std::uint32_t)> lost_ = [](std::uint32_t, std::uint32_t) {};
};

}  // namespace pingloom::probe
