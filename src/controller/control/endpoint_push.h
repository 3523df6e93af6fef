// Pushes RDMA endpoints to agents: to each those of live agents at the addresses in its scope
// (endpoint_scope.h). Changes within kCoalesce become one version, and each agent gets the
// difference to the version it holds. The control thread; the owner calls runDue() at nextDue(). A
// controller that has just started knows no agents. Until kSettle has passed it uses the table that
// it kept on disk as if those agents were present. So no agent stops probing a host that has not
// registered again yet, and agents that hold this table get its new number only. Agents with a
// table of another controller keep it until then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "controller/control/endpoint_directory.h"
#include "controller/control/endpoint_scope.h"
#include "controller/control/foreign_endpoints.h"
#include "controller/control/registry.h"
#include "net/zmq_router.h"
#include "plan/plan.h"

namespace pingloom::controller {

class EndpointPush {
 public:
  static constexpr Nanos kCoalesce = 50 * kMillisecond;
  // A round of pushes takes at most a fifth of the time; this is the longest wait for the next
  // round.
  static constexpr Nanos kMaxCoalesce = 400 * kMillisecond;
  static constexpr Nanos kSettle = 10 * kSecond;
  static constexpr Nanos kSavePause = kSecond;

  // REQUIRES: the first two outlive this, and `foreign`, which is nullptr if there are no other
  // controllers. `file` is where the table is kept; it need not exist.
  EndpointPush(net::ZmqRouter& socket, Registry& registry, std::filesystem::path file,
               Nanos started_mono, const ForeignEndpoints* foreign = nullptr);
  ~EndpointPush();  // writes the table to disk
  EndpointPush(const EndpointPush&) = delete;
  EndpointPush& operator=(const EndpointPush&) = delete;

  // What is known changes at once, so that the owner can push() it before the plan.
  void setPlan(std::shared_ptr<const plan::Plan> plan, Instant now);
  // Notes that agents of these addresses came, went, or have other endpoints.
  void changed(const std::vector<IpAddress>& addresses, Instant now);

  // Notes which table the agent reports.
  void registered(Agent& agent, const wire::Register& request, Instant now);
  // Sends the agent the changes that it lacks, unless a new version is being gathered.
  void push(Agent& agent);

  void runDue(Instant now);
  Nanos nextDue() const { return std::min(due_mono_, save_due_mono_); }
  std::uint64_t version() const { return directory_.version(); }

 private:
  bool lacks(const Agent& agent) const;
  void takeNeeded(Instant now);
  void gather(Instant now);
  void commit(Instant now);
  void settle();
  void update(const IpAddress& address);
  void pushAll(Instant now);
  void save();

  net::ZmqRouter& socket_;
  Registry& registry_;
  const std::filesystem::path file_;
  const ForeignEndpoints* const foreign_;
  const Nanos settle_mono_;
  bool settled_ = false;
  EndpointDirectory directory_;
  EndpointScopes scopes_;
  plan::AddressList needed_;  // the addresses in any agent's scope; sorted
  // changed addresses of the present or the previous list
  std::unordered_set<IpAddress, IpAddressHash> changed_;
  Nanos due_mono_;
  Nanos pause_until_mono_ = 0;
  Nanos save_due_mono_ = kNever;
  bool failure_logged_ = false;
};

}  // namespace pingloom::controller
