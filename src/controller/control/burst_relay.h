// Bursts that other controllers order of agents that are registered here: hands the orders to the
// agents, and the agents' reports to the controllers that have ordered them (bursts.h). The
// controller that ordered ends a burst that is not reported in time. The control thread. Bound:
// kMaxKnown orders, of which the oldest is forgotten first.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "control.pb.h"
#include "controller/control/registry.h"
#include "net/zmq_router.h"

namespace pingloom::controller {

class BurstRelay {
 public:
  static constexpr std::size_t kMaxKnown = 512;

  // REQUIRES: both of them outlive it.
  BurstRelay(net::ZmqRouter& socket, Registry& registry) : socket_(socket), registry_(registry) {}

  // REQUIRES: a controller follows on `route`. Each may order Bursts::kMaxPerMinute in a minute.
  void order(const std::string& route, const wire::RelayedBurstOrder& order, Instant now);
  // Takes an agent's report. Returns false if no other controller has ordered the burst.
  bool report(const Agent& agent, const wire::BurstReport& report);

 private:
  struct Ordered {
    std::uint64_t id = 0;
    std::string route;  // of the controller that ordered it
    std::string host;
    Nanos mono = 0;  // when it was ordered
    bool finished = false;
  };

  bool send(const std::string& route, const std::string& host, const wire::BurstReport& report);
  void refuse(const std::string& route, const wire::RelayedBurstOrder& order,
              const std::string& reason);

  net::ZmqRouter& socket_;
  Registry& registry_;
  std::deque<Ordered> ordered_;  // finished ones count for the limit
};

}  // namespace pingloom::controller
