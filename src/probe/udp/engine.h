// What the UDP transport's thread does with its sockets: it answers, probes, and gives verdicts as
// time passes. The transport's event loop tells it which sockets are ready and what time it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/error.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "probe/guest_list.h"
#include "probe/stall_watch.h"
#include "probe/transport.h"
#include "probe/udp/flow_tracer.h"
#include "probe/udp/prober.h"
#include "probe/udp/responder.h"

namespace pingloom::probe::udp {

// One thread. The context and the objects it points to outlive the engine.
class Engine {
 public:
  explicit Engine(const AgentContext& context);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Status open();

  std::vector<net::UdpSocket>& sockets() { return sockets_; }
  Prober& prober() { return prober_; }
  // Closes all windows as they stand and stops.
  void flush(const Instant& now);

  void setWork(const Work& work, const Instant& now);
  void addTo(TransportCounters& counters);

  // These are called in this order after every wake-up.
  void wokeUp(const Instant& now) { stalls_.tick(now.mono); }
  void readable(std::size_t socket);
  void hasErrors(std::size_t socket, const Instant& now);
  // Gives verdicts, closes windows and sends due PINGs. `now` is the time of the wake-up.
  void elapse(const Instant& now);
  // When elapse() must be called next.
  Nanos nextWake() const;

 private:
  Nanos receive(std::size_t socket, std::size_t count, const Instant& now);
  void receiveOne(std::size_t socket, std::size_t i, const Instant& now);
  void answerQuery(std::size_t socket, std::size_t i, const net::Ancillary& about,
                   const Instant& now);
  void answer(std::size_t socket, const Instant& now);
  void handleErrors(std::size_t socket, const Instant& now);
  void bounced(const net::Bounce& bounce, const Instant& now);
  Nanos waited(std::size_t i, const Instant& now);
  void drop(DropReason reason) { count(reason, dropped_); }

  const AgentContext& context_;
  StallWatch stalls_;
  GuestList guests_;
  net::RxBatch incoming_;
  net::RxBatch scratch_;  // for error queues
  Prober prober_;
  FlowTracer tracer_;
  std::vector<net::UdpSocket> sockets_;  // fixed once open
  std::deque<Responder> responders_;     // [i] belongs to sockets_[i]
  // If more packets wait than one wake-up reads, this is the age of the last packet read. Verdicts
  // are given as of that much earlier, so that none comes before all answers have been read.
  Nanos behind_ = 0;
  DropCounts dropped_{};
};

}  // namespace pingloom::probe::udp
