// Bursts that other controllers order of agents that are registered here: hands the orders to the
// agents, and the agents' reports to the controllers that have ordered them (bursts.h). The
// controller that ordered ends a burst that is not reported in time. The control thread. Bound:
// kMaxKnown orders; further ones are refused until older ones have finished or are a minute old.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "control.pb.h"
#include "controller/control/bursts.h"
#include "controller/control/registry.h"
#include "controller/control/relay_feed.h"
#include "net/zmq_router.h"

namespace pingloom::controller {

class BurstRelay {
 public:
  static constexpr std::size_t kMaxKnown = 512;
  // What one controller may order. It is more than one orders, because orders may wait on their
  // way.
  static constexpr std::size_t kMaxPerMinute = Bursts::kMaxPerMinute + Bursts::kMaxRunning;

  // REQUIRES: all of them outlive it. `feed` is nullptr if this controller works alone.
  BurstRelay(net::ZmqRouter& socket, Registry& registry, RelayFeed* feed)
      : socket_(socket), registry_(registry), feed_(feed) {}

  // REQUIRES: there is a feed. `from` is the name of a controller that follows.
  void order(const std::string& from, const wire::RelayedBurstOrder& order, Instant now);
  // Takes an agent's report. Returns false if no other controller has ordered the burst.
  bool report(const Agent& agent, const wire::BurstReport& report, Instant now);

 private:
  struct Ordered {
    std::uint64_t id = 0;
    std::string from;
    std::string host;
    Nanos mono = 0;  // when it was ordered
    bool finished = false;
  };

  bool makeRoom(Instant now);
  void tell(const std::string& to, const std::string& host, const wire::BurstReport& report,
            Instant now);
  void refuse(const std::string& to, const wire::RelayedBurstOrder& order,
              const std::string& reason, Instant now);

  net::ZmqRouter& socket_;
  Registry& registry_;
  RelayFeed* const feed_;
  std::deque<Ordered> ordered_;  // finished ones count for the limit
};

}  // namespace pingloom::controller
