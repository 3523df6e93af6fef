// Which RDMA endpoints an agent gets: those of the destinations that its addresses probe by rdma.
// An agent with an InfiniBand port gets all endpoints, because it recognizes the senders of PINGs
// by their LIDs and queue pairs. The control thread. Memory: agents with the same destinations
// share one list of them. A probe that samples gives each agent a list of its own, of its group and
// its sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/address.h"
#include "controller/model/board.h"
#include "plan/plan.h"
#include "plan/sampling.h"

namespace pingloom::controller {

struct EndpointScope {
  // Equal for equal addresses, also after a restart; never 0.
  std::uint64_t hash = 1;
  std::optional<plan::AddressList> addresses;  // nullopt: all
  bool shared = true;                          // by agents

  bool contains(const IpAddress& address) const {
    return !addresses || plan::contains(*addresses, address);
  }
};

// The endpoint table that an agent holds.
struct HeldTable {
  bool any = false;            // whether it holds any table, another controller's included
  std::uint64_t version = 0;   // of this controller's table; 0 if it holds none of them
  std::uint64_t right_at = 0;  // the newest version for which it is right as it is
  std::shared_ptr<const EndpointScope> scope = nullptr;  // nullptr if unknown
};

class EndpointScopes {
 public:
  void setPlan(std::shared_ptr<const plan::Plan> plan);
  // Returns nullptr before the first plan.
  std::shared_ptr<const EndpointScope> of(const AgentInfo& agent);

  // Notes that an agent with an InfiniBand port is here. Returns true if it is the first.
  bool noteInfiniBand(const AgentInfo& agent);
  // The addresses whose endpoints agents need: the destinations of rdma probes, and once there is
  // InfiniBand the sources too. Ascending.
  plan::AddressList needed() const;

 private:
  struct RdmaProbe {
    const plan::ProbeSpec* spec;
    std::shared_ptr<const plan::Targets> targets;  // nullptr if it does not sample
  };

  std::shared_ptr<const EndpointScope> scopeOf(const std::set<std::string>& lists,
                                               plan::AddressList sampled) const;

  std::shared_ptr<const plan::Plan> plan_;
  std::vector<RdmaProbe> probes_;
  bool infiniband_ = false;
  const std::shared_ptr<const EndpointScope> all_ = std::make_shared<const EndpointScope>();
  // The scopes of agents without sampled destinations, by the names of their lists.
  std::map<std::set<std::string>, std::shared_ptr<const EndpointScope>> shared_;
};

}  // namespace pingloom::controller
