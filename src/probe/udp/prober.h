// Sends the PINGs that are due. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/distribution.h"
#include "common/time.h"
#include "net/outbox.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "probe/exchanges.h"
#include "probe/nonces.h"
#include "probe/pace.h"
#include "probe/task_list.h"

namespace pingloom::probe::udp {

// Where the kernel has no room, pings wait, and skip their round when a whole interval has passed.
// Tasks, exchanges, stall watch, sockets and the scratch batch outlive it.
class Prober {
 public:
  static constexpr Nanos kRetry = 1'500 * kMicrosecond;

  Prober(TaskList& tasks, Exchanges& exchanges, StallWatch& stalls, std::uint32_t incarnation,
         std::uint16_t port, net::RxBatch& scratch);

  // After every change of the task list; the sockets stay the same. Tasks whose source no socket is
  // bound to send nothing: they are returned.
  std::vector<std::uint32_t> route(std::vector<net::UdpSocket>& sockets);
  // One more behind the others, from a source and of a payload that another one has; or it is gone.
  // The others go on undisturbed.
  void taskAdded();
  void lastTaskGone();

  void sendDue(Nanos now);
  // When sendDue() must be called next.
  Nanos nextSend() const;

  std::uint64_t sent() const { return sent_; }
  // Because a limit was reached, here or in the kernel, or there was no socket.
  std::uint64_t skipped() const { return skipped_; }
  Distribution takeLateness();

 private:
  struct Ping {
    std::uint32_t task;
    std::uint32_t target;
    Nanos due;
  };
  // One to a socket.
  struct Lane {
    net::UdpSocket* socket = nullptr;
    std::size_t longest = 0;
    std::unique_ptr<net::Outbox> outbox;
    std::vector<Ping> queued;   // in the outbox, in its order
    std::vector<Ping> waiting;  // the kernel had no room for them; at most net::Outbox::kMax
  };
  // One to a task.
  struct Route {
    Lane* lane = nullptr;  // nullptr: no socket
    net::ControlData control;
    std::uint16_t port = 0;
  };
  Lane* laneFor(const IpAddress& source);
  Route routeOf(const plan::Assignment& assignment);
  void sendTask(std::uint32_t task, Nanos until);
  void queue(const Ping& ping, const Instant& now);
  void retry(Lane& lane, Nanos now);
  void send(Lane& lane);

  TaskList* tasks_;
  Exchanges* exchanges_;
  StallWatch* stalls_;
  std::uint32_t incarnation_;
  std::uint16_t port_;
  net::RxBatch* scratch_;
  Nonces nonces_;
  std::vector<Lane> lanes_;
  std::vector<Route> routes_;
  std::vector<ProbeSchedule::Due> due_;
  Pace pace_;
  Nanos retry_at_ = kNever;
  std::uint64_t sent_ = 0;
  std::uint64_t skipped_ = 0;
  Distribution lateness_;
};

}  // namespace pingloom::probe::udp
