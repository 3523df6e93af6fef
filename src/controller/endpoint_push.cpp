#include "controller/endpoint_push.h"

#include <algorithm>
#include <iterator>

#include "common/random.h"

namespace pingloom::controller {
namespace {

plan::AddressList namedByRdma(const plan::Plan& plan) {
  plan::AddressList named;
  for (const plan::ProbeSpec& probe : plan.probes) {
    if (probe.protocol != Protocol::kRdma) continue;
    for (const std::string* list : {&probe.sources, &probe.destinations}) {
      const plan::AddressList& some = plan.list(*list);
      named.insert(named.end(), some.begin(), some.end());
    }
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

bool contains(const plan::AddressList& list, const IpAddress& address) {
  return std::binary_search(list.begin(), list.end(), address);
}

}  // namespace

EndpointPush::EndpointPush(ControlSocket& socket, Registry& registry, Nanos started_mono)
    : socket_(socket),
      registry_(registry),
      started_mono_(started_mono),
      directory_(std::max<std::uint64_t>(randomU64(), 1)),
      due_mono_(started_mono + kSettle) {}

void EndpointPush::setPlan(const plan::Plan& plan, Now now) {
  plan::AddressList next = namedByRdma(plan);
  plan::AddressList others;
  std::set_symmetric_difference(named_.begin(), named_.end(), next.begin(), next.end(),
                                std::back_inserter(others));
  named_ = std::move(next);
  if (others.empty()) return;
  changed_.insert(others.begin(), others.end());
  gather(now);
}

void EndpointPush::changed(const std::vector<IpAddress>& addresses, Now now) {
  const std::size_t before = changed_.size();
  for (const IpAddress& address : addresses) {
    if (contains(named_, address)) changed_.insert(address);
  }
  if (changed_.size() != before) gather(now);
}

void EndpointPush::gather(Now now) {
  due_mono_ = std::min(due_mono_, std::max(now.mono + kCoalesce, pause_until_mono_));
}

void EndpointPush::runDue(Now now) {
  if (now.mono < due_mono_) return;
  for (const IpAddress& address : changed_) {
    directory_.set(address, contains(named_, address) ? registry_.endpoint(address) : nullptr);
  }
  changed_.clear();
  directory_.commit();
  due_mono_ = settled(now) ? DeadlineQueue<int>::kNever : started_mono_ + kSettle;
  const Nanos started = monotonicNow();
  for (const auto& [id, agent] : registry_.agents()) {
    if (agent->info.alive) push(*agent, now);
  }
  const Nanos took = monotonicNow() - started;
  pause_until_mono_ = now.mono + took + std::min(4 * took, kLongestCoalesce);
}

void EndpointPush::registered(Agent& agent, const wire::Register& request) const {
  const bool ours = request.endpoints_controller() == directory_.controller();
  agent.endpoints_version = ours ? request.endpoints_version() : 0;
  agent.endpoints_complete = agent.endpoints_version != 0;
  agent.endpoints_any = request.endpoints_controller() != 0;
}

bool EndpointPush::lacks(const Agent& agent, Now now) const {
  if (!agent.endpoints_any && directory_.empty()) return false;
  return agent.endpoints_version != directory_.version() ||
         (!agent.endpoints_complete && settled(now));
}

void EndpointPush::push(Agent& agent, Now now) {
  if (changed_.empty() && lacks(agent, now)) send(agent, now);
}

void EndpointPush::send(Agent& agent, Now now) {
  const bool settle = settled(now);
  const std::uint64_t held = settle && !agent.endpoints_complete ? 0 : agent.endpoints_version;
  const auto update = directory_.updateFrom(held, settle);
  if (!socket_.send(agent.route, update)) return;  // again with its next heartbeat
  agent.endpoints_version = directory_.version();
  if (!directory_.knows(held)) agent.endpoints_complete = settle;
  agent.endpoints_any = true;
}

}  // namespace pingloom::controller
