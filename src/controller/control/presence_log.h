// Records for the history when agents came and went, so that the past can distinguish a host that
// was away from a network that lost pings. The control thread. Bounds: one record each time an
// address's agent comes, goes or changes its RDMA endpoint, and one for each start of the
// controller; one entry for each address that ever registered.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "controller/control/registry.h"
#include "controller/model/presence.h"

namespace pingloom::controller {

class PresenceLog {
 public:
  explicit PresenceLog(Nanos started_utc) : records_{{started_utc, std::nullopt, {}}} {}

  // Checks these addresses, which the registry's takeChanged() returned.
  void note(const Registry& registry, std::span<const IpAddress> addresses, Instant now);
  // Notes that all agents that are registered here are present: another controller has started,
  // which counts as the end of everybody's presence.
  void noteAll(const Registry& registry, Instant now);
  std::vector<PresenceRecord> take();

 private:
  struct Known {
    bool alive = false;
    Nanos since_utc = 0;
    Nanos endpoint_since_utc = 0;
    bool elsewhere = false;  // the agent is registered with another controller, which notes it
    bool gone = false;       // the last record says that it is gone
  };
  std::unordered_map<IpAddress, Known, IpAddressHash> known_;
  std::vector<PresenceRecord> records_;
};

}  // namespace pingloom::controller
