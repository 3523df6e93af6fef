// The agents: who they are, on which connection they speak, which addresses and RDMA endpoints are
// theirs, and since when they have been there without a gap. Time is an argument; the control
// thread alone calls. Bounds: kMaxAgents, kMaxHostAddresses each; the agent that has been gone
// longest makes room.
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
#include "controller/model/board.h"
#include "controller/model/deadline_queue.h"

namespace pingloom::controller {

constexpr Nanos kHeartbeatInterval = kSecond;
constexpr Nanos kLease = 4 * kSecond;

// Both clocks, read together.
struct Now {
  Nanos mono = 0;
  Nanos utc = 0;
};

using AgentId = std::uint32_t;  // of this run of the controller; from 1, never used again

struct Agent {
  AgentId id = 0;
  AgentInfo info;                 // what it says of the plan is filled in by hosts()
  std::string route;              // ZeroMQ's name of its connection; "": has to register
  std::uint64_t plan_hash = 0;    // the plan it says it holds
  std::uint64_t pushed_hash = 0;  // the plan sent to it last
  Nanos pushed_mono = 0;
  Nanos heard_mono = 0;
  Nanos nudged_mono = 0;
  // The endpoint table it holds (endpoint_push.h): a version of ours, 0 = none of them; whether it
  // holds any, another controller's too.
  std::uint64_t endpoints_version = 0;
  bool endpoints_any = false;
  Nanos present_since_utc = 0;  // 0: no absence is known
  bool bursts = false;          // takes wire::BurstOrder
  // The keys of collectors that it was sent last on this connection.
  std::shared_ptr<const std::string> told_collectors;
  // Some of its batches could not be committed: none is before it has registered again, because
  // a gap would be taken for delivered.
  bool suspended = false;
  bool in_lease_queue = false;
};

struct Refusal {
  wire::Refused::Reason reason = wire::Refused::UNKNOWN;
  std::string text;
};

// Of an address, as its agent's.
struct Presence {
  bool known = false;  // an agent had it at some time
  bool alive = false;
  Nanos since_utc = 0;
  bool endpoint = false;  // RDMA, of a live agent
  Nanos endpoint_since_utc = 0;
  Nanos heard_utc = 0;  // its agent, last
};

class Registry {
 public:
  static constexpr std::size_t kMaxAgents = 65'536;

  // Takes the agent in, or says why not. `known_incarnation` is the newest of this host whose
  // batches were committed: an agent that outlived the controller was not away. `key`: the one its
  // connection has proved to have, "" without keys; what it may be is judged before (access.h).
  tl::expected<Agent*, Refusal> admit(const wire::Register& request, const std::string& route,
                                      std::optional<std::uint64_t> known_incarnation, Now now,
                                      std::string_view key = "");
  // The agent that speaks on this connection, its lease renewed, or begun anew where it had run
  // out: a silence tells nothing new about it. nullptr: it has to register. A route is of the key
  // that registered on it.
  Agent* heard(const std::string& route, Now now, std::string_view key = "");
  // Who has metric pages there, or why that is not taken: what was known stays then.
  static std::optional<Refusal> takePageOwners(Agent& agent, const wire::PageOwners& told);
  void goodbye(Agent& agent);
  // Ends the leases that have run out.
  void expire(Now now);
  Nanos nextExpiry() const { return leases_.next(); }  // CLOCK_MONOTONIC

  Presence presence(const IpAddress& address) const;
  // How the address is reached by RDMA; nullptr: not at all, or its agent has no lease. Until the
  // next change.
  const plan::Endpoint* endpoint(const IpAddress& address) const;
  bool owns(const Agent& agent, const IpAddress& address) const;
  const Agent* owner(const IpAddress& address) const;  // nullptr: nobody
  Agent* find(const std::string& host);
  const std::map<AgentId, std::unique_ptr<Agent>>& agents() const { return agents_; }

  // Addresses whose presence or endpoint changed since the last call.
  std::vector<IpAddress> takeChanged();
  std::shared_ptr<const Hosts> hosts(std::uint64_t plan_hash) const;

 private:
  std::optional<Refusal> conflict(const wire::Register& request,
                                  const std::vector<IpAddress>& addresses, Now now) const;
  Agent* makeAgent(const std::string& host, Now now);
  void takeAddresses(Agent& agent, std::vector<IpAddress> addresses);
  static void takeEndpoints(Agent& agent, std::vector<plan::Endpoint> endpoints,
                            std::optional<Nanos> changed_utc);
  void comeBack(Agent& agent, Now now);
  void endLease(Agent& agent);
  void countAsGone(Agent& agent);
  void noteChanged(const Agent& agent);
  void watchLease(Agent& agent);
  bool live(const Agent& agent, Now now) const;

  std::map<AgentId, std::unique_ptr<Agent>> agents_;
  std::unordered_map<std::string, Agent*> by_host_;
  std::unordered_map<std::string, Agent*> by_route_;
  std::unordered_map<IpAddress, Agent*, IpAddressHash> by_address_;
  DeadlineQueue<AgentId> leases_;
  std::vector<IpAddress> changed_;
  AgentId last_id_ = 0;
};

}  // namespace pingloom::controller
