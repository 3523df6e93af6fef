// Which RDMA endpoints agents are told of, and when: those of live agents at addresses that rdma
// probes name. What changes within kCoalesce becomes one version, and each agent gets the
// difference to the one it holds. The control thread; the owner calls runDue() as nextDue() says.
//
// A controller that has just started knows nobody. Until kSettle has passed its table only adds to
// what agents hold from before: nobody stops probing a host that has not come back to it yet.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "controller/control_socket.h"
#include "controller/endpoint_directory.h"
#include "controller/registry.h"
#include "plan/plan.h"

namespace pingloom::controller {

class EndpointPush {
 public:
  static constexpr Nanos kCoalesce = 50 * kMillisecond;
  // A round of pushes takes at most a fifth of the time, and its successor never waits longer.
  static constexpr Nanos kLongestCoalesce = 400 * kMillisecond;
  static constexpr Nanos kSettle = 10 * kSecond;

  // Both outlive it.
  EndpointPush(ControlSocket& socket, Registry& registry, Nanos started_mono);

  void setPlan(const plan::Plan& plan, Now now);
  // Agents of these addresses came, went, or have other endpoints.
  void changed(const std::vector<IpAddress>& addresses, Now now);

  // Notes which table the agent says it holds.
  void registered(Agent& agent, const wire::Register& request) const;
  // Sends what it lacks, if anything; not while a new version is being gathered.
  void push(Agent& agent, Now now);

  void runDue(Now now);
  Nanos nextDue() const { return due_mono_; }
  std::uint64_t version() const { return directory_.version(); }

 private:
  bool settled(Now now) const { return now.mono - started_mono_ >= kSettle; }
  bool lacks(const Agent& agent, Now now) const;
  void send(Agent& agent, Now now);
  void gather(Now now);

  ControlSocket& socket_;
  Registry& registry_;
  const Nanos started_mono_;
  EndpointDirectory directory_;
  plan::AddressList named_;                               // by rdma probes; sorted
  std::unordered_set<IpAddress, IpAddressHash> changed_;  // of them, or of those before
  Nanos due_mono_;                                        // begins with the settling
  Nanos pause_until_mono_ = 0;
};

}  // namespace pingloom::controller
