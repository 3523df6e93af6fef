// Which RDMA endpoints agents are told of, and when: those of live agents at addresses that rdma
// probes name. What changes within kCoalesce becomes one version, and each agent gets the
// difference to the one it holds. The control thread; the owner calls runDue() as nextDue() says.
//
// A controller that has just started knows nobody. It goes on from the table that it kept on disk,
// as if those agents were there, until kSettle has passed: nobody stops probing a host that has not
// come back to it yet, and agents that hold that table are sent nothing. Tables of another
// controller are left alone until then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "controller/control/endpoint_directory.h"
#include "controller/control/registry.h"
#include "net/zmq_router.h"
#include "plan/plan.h"

namespace pingloom::controller {

class EndpointPush {
 public:
  static constexpr Nanos kCoalesce = 50 * kMillisecond;
  // A round of pushes takes at most a fifth of the time, and its successor never waits longer.
  static constexpr Nanos kMaxCoalesce = 400 * kMillisecond;
  static constexpr Nanos kSettle = 10 * kSecond;
  static constexpr Nanos kSavePause = kSecond;

  // The first two outlive it. `file`: where the table is kept; it need not be there.
  EndpointPush(net::ZmqRouter& socket, Registry& registry, std::filesystem::path file,
               Nanos started_mono);
  ~EndpointPush();  // keeps the table
  EndpointPush(const EndpointPush&) = delete;
  EndpointPush& operator=(const EndpointPush&) = delete;

  void setPlan(const plan::Plan& plan, Now now);
  // Agents of these addresses came, went, or have other endpoints.
  void changed(const std::vector<IpAddress>& addresses, Now now);

  // Notes which table the agent says it holds.
  void registered(Agent& agent, const wire::Register& request) const;
  // Sends what it lacks, if anything; not while a new version is being gathered.
  void push(Agent& agent);

  void runDue(Now now);
  Nanos nextDue() const { return std::min(due_mono_, save_due_mono_); }
  std::uint64_t version() const { return directory_.version(); }

 private:
  bool lacks(const Agent& agent) const;
  void gather(Now now);
  void settle();
  void update(const IpAddress& address);
  void pushAll(Now now);
  void save();

  net::ZmqRouter& socket_;
  Registry& registry_;
  const std::filesystem::path file_;
  const Nanos settle_mono_;
  bool settled_ = false;
  EndpointDirectory directory_;
  plan::AddressList named_;                               // by rdma probes; sorted
  std::unordered_set<IpAddress, IpAddressHash> changed_;  // of them, or of those before
  Nanos due_mono_;
  Nanos pause_until_mono_ = 0;
  Nanos save_due_mono_ = kNever;
  bool failure_logged_ = false;
};

}  // namespace pingloom::controller
