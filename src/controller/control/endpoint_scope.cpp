#include "controller/control/endpoint_scope.h"

#include <algorithm>
#include <utility>

namespace pingloom::controller {
namespace {

void append(const plan::AddressList& some, plan::AddressList& to) {
  to.insert(to.end(), some.begin(), some.end());
}

void sortUnique(plan::AddressList& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

// 64-bit FNV-1a. 0 stands for none, and 1 for the scope of all addresses.
std::uint64_t hashOf(const plan::AddressList& addresses) {
  std::uint64_t state = 0xcbf29ce484222325ULL;
  for (const IpAddress& address : addresses) {
    for (const std::uint8_t byte : address.bytes()) state = (state ^ byte) * 0x100000001b3ULL;
  }
  return std::max<std::uint64_t>(state, 2);
}

bool hasInfiniBand(const AgentInfo& agent) {
  return std::any_of(agent.endpoints.begin(), agent.endpoints.end(),
                     [](const AgentEndpoint& at) { return at.endpoint.lid != 0; });
}

}  // namespace

void EndpointScopes::setPlan(std::shared_ptr<const plan::Plan> plan) {
  probes_.clear();
  shared_.clear();
  plan_ = std::move(plan);
  for (const plan::ProbeSpec& probe : plan_->probes) {
    if (probe.protocol == Protocol::kRdma) {
      probes_.push_back({&probe, plan::targetsOf(*plan_, probe)});
    }
  }
}

bool EndpointScopes::noteInfiniBand(const AgentInfo& agent) {
  if (infiniband_ || !hasInfiniBand(agent)) return false;
  return infiniband_ = true;
}

plan::AddressList EndpointScopes::needed() const {
  plan::AddressList needed;
  for (const RdmaProbe& probe : probes_) {
    append(plan_->list(probe.spec->destinations), needed);
    if (infiniband_) append(plan_->list(probe.spec->sources), needed);
  }
  sortUnique(needed);
  return needed;
}

std::shared_ptr<const EndpointScope> EndpointScopes::of(const AgentInfo& agent) {
  if (plan_ == nullptr) return nullptr;
  if (hasInfiniBand(agent)) return all_;
  std::set<std::string> lists;
  plan::AddressList sampled;
  for (const RdmaProbe& probe : probes_) {
    const plan::AddressList& sources = plan_->list(probe.spec->sources);
    for (const IpAddress& own : agent.addresses) {
      const auto at = std::lower_bound(sources.begin(), sources.end(), own);
      if (at == sources.end() || *at != own) continue;
      if (probe.targets == nullptr) {
        lists.insert(probe.spec->destinations);
        continue;
      }
      // Sources and destinations of a probe that samples are the same.
      const auto source = static_cast<std::uint32_t>(at - sources.begin());
      for (const std::uint32_t target : probe.targets->of(source)) {
        sampled.push_back(sources[target]);
      }
    }
  }
  if (!sampled.empty()) return scopeOf(lists, std::move(sampled));
  std::shared_ptr<const EndpointScope>& shared = shared_[lists];
  if (shared == nullptr) shared = scopeOf(lists, {});
  return shared;
}

std::shared_ptr<const EndpointScope> EndpointScopes::scopeOf(const std::set<std::string>& lists,
                                                             plan::AddressList sampled) const {
  auto made = std::make_shared<EndpointScope>();
  made->shared = sampled.empty();
  made->addresses = std::move(sampled);
  for (const std::string& name : lists) append(plan_->list(name), *made->addresses);
  sortUnique(*made->addresses);
  made->hash = hashOf(*made->addresses);
  return made;
}

}  // namespace pingloom::controller
