// Bursts on the controller: hands orders to the agents of their sources, gathers their reports,
// and ends each burst when its agent says so, has gone, or has not finished in time. Orders for an
// agent of another controller go to that controller, which passes them on (burst_relay.h). The
// control thread owns it and calls runDue() when nextDue() has come and when the board's descriptor
// is readable.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "control.pb.h"
#include "controller/control/burst_board.h"
#include "controller/control/registry.h"
#include "net/zmq_router.h"

namespace pingloom::controller {

class Bursts {
 public:
  static constexpr std::size_t kMaxRunning = 8;  // one to an agent
  static constexpr std::size_t kMaxPerMinute = 60;
  // Finished bursts can be read for kKeep, and at most kMaxKept of them are kept.
  static constexpr Nanos kKeep = 5 * kMinute;
  static constexpr std::size_t kMaxKept = 64;
  // Added to the time of the pings and the probe's timeout; the agent needs a part of it for late
  // replies (BurstRunner::kSlack).
  static constexpr Nanos kSlack = 4 * kSecond;
  static constexpr Nanos kCheckEvery = 250 * kMillisecond;

  // All of them outlive it.
  Bursts(net::ZmqRouter& socket, Registry& registry, BurstBoard& board)
      : socket_(socket), registry_(registry), board_(board) {}

  // Sends an order to another controller, by its name. Returns false if that one takes none.
  using Forward = std::function<bool(const std::string& controller, const wire::AgentMessage&)>;
  void forwardBy(Forward forward) { forward_ = std::move(forward); }

  // Takes an agent's report. Returns an error where it is malformed, and ignores a report on
  // another agent's burst.
  Status report(const Agent& agent, const wire::BurstReport& report, Instant now);
  void runDue(Instant now);
  Nanos nextDue() const;  // monotonic
  std::size_t running() const { return running_.size(); }

 private:
  struct Running {
    BurstSnapshot known;
    // Its agent's incarnation.
    std::uint64_t incarnation = 0;
    Nanos deadline_mono = 0;
    std::map<std::uint32_t, BurstPing> pings;  // by sequence
  };
  struct Kept {
    std::uint64_t id;
    Nanos until_mono;
  };

  BurstAnswer start(const BurstOrder& order, Instant now);
  BurstAnswer refuse(BurstRefusal refusal, std::string reason);
  bool busy(const std::string& host) const;
  bool send(const Agent& agent, std::uint64_t id, const BurstOrder& order);
  void publish(const Running& burst);
  void end(std::uint64_t id, BurstState state, std::string reason, Instant now);

  net::ZmqRouter& socket_;
  Registry& registry_;
  BurstBoard& board_;
  Forward forward_;  // empty if this controller works alone
  std::map<std::uint64_t, Running> running_;
  std::deque<Kept> kept_;
  std::deque<Nanos> started_mono_;  // starts within the last minute
  Nanos check_mono_ = 0;            // when running bursts are checked next
};

}  // namespace pingloom::controller
