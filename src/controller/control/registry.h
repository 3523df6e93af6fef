// Knows each agent's identity, connection, addresses and RDMA endpoints, and since when it has been
// present without a gap. Where several controllers share a history, it also has the agents that are
// registered with the others, as those tell them. Only the control thread uses it, and passes the
// time in. Bounds:
// kMaxAgents agents with kMaxHostAddresses addresses each; a new agent beyond that replaces the one
// that has been gone longest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "control.pb.h"
#include "controller/control/endpoint_scope.h"
#include "controller/control/registration.h"
#include "controller/model/board.h"
#include "controller/model/deadline_queue.h"

namespace pingloom::controller {

constexpr Nanos kHeartbeatInterval = kSecond;
constexpr Nanos kLease = 4 * kSecond;

using AgentId = std::uint32_t;  // unique in this run of the controller; counts from 1

struct Agent {
  AgentId id = 0;
  AgentInfo info;  // hosts() fills in what concerns the plan
  // ZeroMQ's routing id of its connection; "" if it has to register, or has done so elsewhere.
  std::string route;
  std::uint64_t plan_hash = 0;    // hash of the plan that the agent reports
  std::uint64_t pushed_hash = 0;  // hash of the plan last sent to it
  Nanos pushed_mono = 0;
  Nanos heard_mono = 0;
  Nanos nudged_mono = 0;
  Nanos counters_mono = 0;  // when its last heartbeat arrived; counter_log.h sets it
  HeldTable held_endpoints;
  std::shared_ptr<const EndpointScope> scope;  // of its endpoints; nullptr before the first plan
  Nanos present_since_utc = 0;                 // 0 if no absence is known
  // The collectors' keys that were last sent on this connection.
  std::shared_ptr<const std::string> told_collectors;
  // Whether one of its batches could not be committed. Until it registers again, no later batch is
  // committed, because the missing one would then count as delivered.
  bool suspended = false;
  bool follows = false;  // it goes to another controller if it is sent there
  bool in_lease_queue = false;
  bool unconfirmed = false;  // it was sent to another controller, which has not told it yet
  bool told_alive = false;   // what the other controllers were told (relay_feed.h)
};

// What is known about the agent that owns an address.
struct Presence {
  bool known = false;  // whether an agent ever owned it
  bool alive = false;
  Nanos since_utc = 0;
  bool endpoint = false;  // whether a live agent has an RDMA endpoint there
  Nanos endpoint_since_utc = 0;
  Nanos heard_utc = 0;  // when its agent was last heard
};

class Registry {
 public:
  static constexpr std::size_t kMaxAgents = 65'536;

  // Registers the agent, or returns the reason for refusing it. `known_incarnation` is the newest
  // incarnation of this host with committed batches. An agent with this incarnation was running
  // before the controller was restarted, so it was not away. `key` is the authenticated key of its
  // connection, which access.h has checked, or "" without keys.
  tl::expected<Agent*, Refusal> admit(const wire::Register& request, const std::string& route,
                                      std::optional<std::uint64_t> known_incarnation, Instant now,
                                      std::string_view key = "");
  // Takes an agent that is registered with another controller, as that one tells it. Returns
  // nullptr if the agent was heard here lately, or by another controller unless it has just
  // registered, or if what is told is invalid or contradicts live agents. The agent has neither
  // route nor lease; its controller tells when it is gone.
  Agent* takeRelayed(const wire::RelayedAgent& told, const std::string& controller, Instant now);
  // Notes that an agent that is registered with another controller was heard there.
  void heardRelayed(Agent& agent, Instant now);
  // Notes that the agent was sent to this other controller. It counts as registered there already,
  // because it is not away.
  void movedTo(Agent& agent, const std::string& controller, Instant now);
  // Ends the presence of an agent that nobody tells any more. One that never arrived where it was
  // sent counts as this controller's again.
  void endRelayed(Agent& agent);
  // Returns the agent of this connection and renews its lease, even if the lease has expired:
  // silence does not mean that the agent ended. Returns nullptr if the agent has to register, also
  // if `key` is not the key that registered on this route.
  Agent* heard(const std::string& route, Instant now, std::string_view key = "");
  // Takes the owners of the agent's metric pages. If it refuses them, it returns the reason and
  // keeps the previous owners.
  static std::optional<Refusal> takePageOwners(Agent& agent, const wire::PageOwners& told);
  void goodbye(Agent& agent);
  // Forgets an agent that is away; does nothing if the agent is present.
  void forget(const std::string& host);
  // Ends expired leases.
  void expire(Instant now);
  Nanos nextExpiry() const { return leases_.next(); }  // CLOCK_MONOTONIC

  Presence presence(const IpAddress& address) const;
  // Returns the RDMA endpoint of the address, or nullptr if there is none or its agent has no
  // lease. The pointer is valid until the next change.
  const plan::Endpoint* endpoint(const IpAddress& address) const;
  bool owns(const Agent& agent, const IpAddress& address) const;
  const Agent* owner(const IpAddress& address) const;  // nullptr if no agent owns it
  // Tells whether the address's agent is registered with another controller.
  bool isElsewhere(const IpAddress& address) const {
    const Agent* agent = owner(address);
    return agent != nullptr && !agent->info.isHere();
  }
  Agent* find(const std::string& host);
  const std::map<AgentId, std::unique_ptr<Agent>>& agents() const { return agents_; }
  std::size_t present() const;  // the number of agents with a lease here

  // Returns the addresses whose presence or endpoint changed since the last call.
  std::vector<IpAddress> takeChanged();
  std::shared_ptr<const Hosts> hosts(std::uint64_t plan_hash) const;

 private:
  std::optional<Refusal> conflict(const wire::Register& request,
                                  const std::vector<IpAddress>& addresses, Instant now) const;
  void erase(Agent& agent);
  Agent* makeAgent(const std::string& host, Instant now);
  void take(Agent& agent, const wire::Register& request, Registration told,
            std::optional<Nanos> changed_utc);
  static bool isSame(const Agent& agent, const wire::RelayedAgent& told,
                     const std::string& controller, const Registration& read);
  void takeAddresses(Agent& agent, std::vector<IpAddress> addresses);
  static void takeEndpoints(Agent& agent, std::vector<plan::Endpoint> endpoints,
                            std::optional<Nanos> changed_utc);
  void comeBack(Agent& agent, Instant now);
  void endLease(Agent& agent);
  void countAsGone(Agent& agent);
  void noteChanged(const Agent& agent);
  void watchLease(Agent& agent);
  bool live(const Agent& agent, Instant now) const;

  std::map<AgentId, std::unique_ptr<Agent>> agents_;
  std::unordered_map<std::string, Agent*> by_host_;
  std::unordered_map<std::string, Agent*> by_route_;
  std::unordered_map<IpAddress, Agent*, IpAddressHash> by_address_;
  DeadlineQueue<AgentId> leases_;
  std::vector<IpAddress> changed_;
  AgentId last_id_ = 0;
};

}  // namespace pingloom::controller
