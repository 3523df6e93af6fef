// Sends the PINGs of the UDP transport and follows them to their verdicts. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/distribution.h"
#include "common/time.h"
#include "net/outbox.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "probe/exchanges.h"
#include "probe/nonces.h"
#include "probe/pace.h"
#include "probe/ping_queue.h"
#include "probe/task_list.h"
#include "probe/transport.h"

namespace pingloom::probe::udp {

constexpr std::uint8_t kPingTag = 1;  // net::TxTag's kind of a PING; its id is the exchange's

// Context, stall watch, sockets and the scratch batch outlive it.
class Prober {
 public:
  // Sending pauses for this long after the kernel had no room.
  static constexpr Nanos kRetry = 1'500 * kMicrosecond;

  Prober(const AgentContext& context, StallWatch& stalls, net::RxBatch& scratch);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // The sockets to send from, before anything else and once.
  void setSockets(std::vector<net::UdpSocket>& sockets);
  // Tasks whose source no socket is bound to send nothing.
  void setWork(const std::vector<std::shared_ptr<const plan::Assignment>>& work,
               const Instant& now);
  void startBurst(const std::shared_ptr<const Burst>& burst, Nanos now);
  void endBurst();
  // Closes all windows as they stand and stops.
  void flush(const Instant& now);

  // The PING of this exchange left the kernel at T1.
  void sent(std::uint32_t id, Nanos t1_utc);
  // An ICMP error has quoted the beginning of one of the PINGs.
  void bounced(const net::Bounce& bounce);
  std::optional<DropReason> answered(const Answer& answer, const Instant& now) {
    return exchanges_.answered(answer, now);
  }
  // Verdicts and closed windows as of `handled` (whatever arrived before has been handed in), then
  // the PINGs that are due at `now`.
  void elapse(Nanos handled, Nanos now);
  Nanos nextWake() const;
  // Whether PINGs are due at `now`, or wait because the kernel had no room. They leave before
  // answers to others.
  bool wantsToSend(Nanos now) const { return nextSend() <= now; }
  bool hasWaiting() const { return retryAt() != kNever; }

  // How the packets of one task leave.
  struct Route {
    net::UdpSocket* socket = nullptr;  // nullptr: none is bound to the task's source
    net::SendOptions options;
    std::uint16_t port = 0;
  };
  const Route& route(std::uint32_t task) const { return routes_[task].route; }
  // `lost` is called for each PING that nobody answered.
  void onLost(std::function<void(std::uint32_t task, std::uint32_t target)> lost) {
    exchanges_.onLost(std::move(lost));
  }

  TaskList& tasks() { return tasks_; }
  const TaskList& tasks() const { return tasks_; }
  std::uint64_t pingsSent() const { return counts_.sent; }
  std::uint64_t pingsSkipped() const { return counts_.skipped + tasks_.skipped(); }
  Distribution takeLateness();

 private:
  // What belongs to one socket.
  struct Lane {
    net::UdpSocket* socket;
    PingQueue queue;
    std::size_t longest = 0;
    std::unique_ptr<net::Outbox> outbox = nullptr;  // the queue's batch, in the same order
  };
  struct LaneRoute {
    Route route;
    Lane* lane = nullptr;  // nullptr: no socket
    net::ControlData control;
  };
  Lane* laneFor(const IpAddress& source);
  LaneRoute routeOf(const plan::Assignment& assignment);
  void findRoutes();
  Nanos retryAt() const;
  Nanos nextSend() const;
  void sendDue(Nanos now);
  void sendTask(std::uint32_t task, Nanos until);
  void ping(const Ping& ping, const Instant& now);
  void leave(Lane& lane);

  const AgentContext* context_;
  StallWatch* stalls_;
  net::RxBatch* scratch_;
  TaskList tasks_;
  Exchanges exchanges_;
  Nonces nonces_;
  PingCounts counts_;
  std::vector<Lane> lanes_;
  std::vector<LaneRoute> routes_;
  std::vector<ProbeSchedule::Due> due_;
  Pace pace_;
};

}  // namespace pingloom::probe::udp
