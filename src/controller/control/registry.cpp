#include "controller/control/registry.h"

#include <algorithm>
#include <utility>

#include "common/duration.h"
#include "common/log.h"
#include "wire/page_owner_codec.h"

namespace pingloom::controller {
namespace {

const AgentEndpoint* endpointAt(const AgentInfo& info, const IpAddress& address) {
  for (const AgentEndpoint& at : info.endpoints) {
    if (at.endpoint.address == address) return &at;
  }
  return nullptr;
}

}  // namespace

tl::expected<Agent*, Refusal> Registry::admit(const wire::Register& request,
                                              const std::string& route,
                                              std::optional<std::uint64_t> known_incarnation,
                                              Instant now, std::string_view key) {
  auto told = readRegistration(request, now.utc);
  if (!told) return tl::unexpected(std::move(told.error()));
  if (auto refusal = conflict(request, told->addresses, now)) {
    return tl::unexpected(std::move(*refusal));
  }
  Agent* agent = find(request.host());
  const bool first = agent == nullptr;
  if (first) agent = makeAgent(request.host(), now);
  if (agent == nullptr) {
    return tl::unexpected(Refusal{wire::Refused::UNKNOWN, "too many agents"});
  }
  const AgentInfo& info = agent->info;
  const bool stayed = first ? known_incarnation && request.incarnation() <= *known_incarnation
                            : info.alive && info.incarnation == request.incarnation();
  if (!stayed) agent->present_since_utc = now.utc;
  by_route_.erase(agent->route);
  if (const auto other = by_route_.find(route); other != by_route_.end()) endLease(*other->second);
  // If the agent outlived the controller, none of its endpoints counts as changed.
  take(*agent, request, std::move(*told), first && stayed ? std::nullopt : std::optional(now.utc));
  agent->info.controller.clear();
  agent->info.public_key = key;
  agent->info.alive = true;
  agent->info.last_seen_utc = now.utc;
  agent->route = route;
  agent->heard_mono = now.mono;
  agent->pushed_hash = 0;
  agent->suspended = false;
  agent->unconfirmed = false;
  agent->follows = request.follows();
  by_route_[route] = agent;
  watchLease(*agent);
  return agent;
}

// `changed_utc` is the time since which new endpoints count as changed.
void Registry::take(Agent& agent, const wire::Register& request, Registration told,
                    std::optional<Nanos> changed_utc) {
  AgentInfo& info = agent.info;
  takeAddresses(agent, std::move(told.addresses));
  info.rdma_addresses = std::move(told.rdma_addresses);
  takeEndpoints(agent, std::move(told.endpoints), changed_utc);
  info.port = static_cast<std::uint16_t>(request.port());
  info.incarnation = request.incarnation();
  info.software_version = request.software_version();
  info.pages.reset();
  if (const auto pages = SocketAddress::parse(request.pages())) info.pages = *pages;
  info.page_owners.reset();  // its first heartbeat contains them
  agent.plan_hash = request.plan_hash();
}

bool Registry::isSame(const Agent& agent, const wire::RelayedAgent& told,
                      const std::string& controller, const Registration& read) {
  const AgentInfo& info = agent.info;
  return info.controller == controller && info.alive == told.alive() &&
         info.incarnation == told.registration().incarnation() &&
         agent.present_since_utc == told.present_since_utc_ns() &&
         info.addresses == read.addresses && info.rdma_addresses == read.rdma_addresses &&
         std::equal(info.endpoints.begin(), info.endpoints.end(), read.endpoints.begin(),
                    read.endpoints.end(), [](const AgentEndpoint& at, const plan::Endpoint& is) {
                      return at.endpoint == is;
                    });
}

Agent* Registry::takeRelayed(const wire::RelayedAgent& told, const std::string& controller,
                             Instant now) {
  const wire::Register& request = told.registration();
  Agent* agent = find(request.host());
  const bool here = agent != nullptr && agent->info.isHere();
  // One that was not heard for a while may have registered elsewhere before its lease ends here.
  if (here && live(*agent, now)) return nullptr;
  // One that has moved may be told by two controllers.
  const bool another = agent != nullptr && agent->info.controller != controller;
  const bool lately = another && agent->info.alive && now.mono - agent->heard_mono < kLease;
  if ((lately && !told.fresh()) || (another && !told.alive())) return nullptr;
  auto read = readRegistration(request, now.utc);
  if (!read || conflict(request, read->addresses, now)) return nullptr;
  const bool first = agent == nullptr;
  if (first) agent = makeAgent(request.host(), now);
  if (agent == nullptr) return nullptr;
  if (first || !isSame(*agent, told, controller, *read)) {
    endLease(*agent);
    agent->present_since_utc = told.present_since_utc_ns();
    take(*agent, request, std::move(*read), first ? std::nullopt : std::optional(now.utc));
  }
  agent->info.controller = controller;
  agent->info.public_key = told.public_key();
  agent->info.first_seen_utc = told.first_seen_utc_ns();
  agent->info.last_seen_utc = told.last_seen_utc_ns();
  agent->info.alive = told.alive();
  agent->heard_mono = now.mono;
  agent->unconfirmed = false;
  return agent;
}

void Registry::heardRelayed(Agent& agent, Instant now) {
  agent.heard_mono = now.mono;
  agent.unconfirmed = false;
  agent.info.last_seen_utc = now.utc;
  if (!std::exchange(agent.info.alive, true)) noteChanged(agent);
}

void Registry::movedTo(Agent& agent, const std::string& controller, Instant now) {
  by_route_.erase(agent.route);
  agent.route.clear();
  agent.info.controller = controller;
  agent.heard_mono = now.mono;
  agent.unconfirmed = true;
  noteChanged(agent);
}

void Registry::endRelayed(Agent& agent) {
  if (std::exchange(agent.unconfirmed, false)) agent.info.controller.clear();
  endLease(agent);
}

std::optional<Refusal> Registry::conflict(const wire::Register& request,
                                          const std::vector<IpAddress>& addresses,
                                          Instant now) const {
  const auto same_host = by_host_.find(request.host());
  const Agent* self = same_host == by_host_.end() ? nullptr : same_host->second;
  // Two processes cannot serve the same addresses, so the later one is a restart after a crash.
  const bool restart = self != nullptr && self->info.incarnation < request.incarnation() &&
                       !addresses.empty() && self->info.addresses == addresses;
  if (self != nullptr && !restart && live(*self, now) &&
      self->info.incarnation != request.incarnation()) {
    return Refusal{wire::Refused::DUPLICATE_HOST,
                   "another agent with the host id '" + request.host() + "' is there"};
  }
  for (const IpAddress& address : addresses) {
    const auto owner = by_address_.find(address);
    if (owner == by_address_.end() || owner->second == self || !live(*owner->second, now)) continue;
    return Refusal{wire::Refused::DUPLICATE_ADDRESS,
                   address.text() + " belongs to the agent '" + owner->second->info.host + "'"};
  }
  return std::nullopt;
}

bool Registry::live(const Agent& agent, Instant now) const {
  return agent.info.alive && now.mono - agent.heard_mono < 2 * kHeartbeatInterval;
}

Agent* Registry::makeAgent(const std::string& host, Instant now) {
  if (agents_.size() >= kMaxAgents) {
    auto longest = agents_.end();
    for (auto at = agents_.begin(); at != agents_.end(); ++at) {
      const bool older =
          longest == agents_.end() || at->second->heard_mono < longest->second->heard_mono;
      if (!at->second->info.alive && older) longest = at;
    }
    if (longest == agents_.end()) return nullptr;
    erase(*longest->second);
  }
  auto made = std::make_unique<Agent>();
  made->id = ++last_id_;
  made->info.host = host;
  made->info.first_seen_utc = now.utc;
  Agent* agent = made.get();
  agents_.emplace(agent->id, std::move(made));
  by_host_[host] = agent;
  return agent;
}

void Registry::forget(const std::string& host) {
  Agent* agent = find(host);
  if (agent != nullptr && !agent->info.alive) erase(*agent);
}

void Registry::erase(Agent& agent) {
  takeAddresses(agent, {});
  endLease(agent);
  by_host_.erase(agent.info.host);
  agents_.erase(agent.id);
}

// Taking over an address ends the lease of the silent agent that had it; that agent has to register
// again, and is refused then.
void Registry::takeAddresses(Agent& agent, std::vector<IpAddress> addresses) {
  changed_.insert(changed_.end(), agent.info.addresses.begin(), agent.info.addresses.end());
  for (const IpAddress& address : agent.info.addresses) by_address_.erase(address);
  for (const IpAddress& address : addresses) {
    const auto owner = by_address_.find(address);
    if (owner != by_address_.end()) {
      Agent& other = *owner->second;
      endLease(other);
      std::erase(other.info.addresses, address);
      std::erase_if(other.info.endpoints,
                    [&](const AgentEndpoint& at) { return at.endpoint.address == address; });
    }
    by_address_[address] = &agent;
  }
  changed_.insert(changed_.end(), addresses.begin(), addresses.end());
  agent.info.addresses = std::move(addresses);
}

void Registry::takeEndpoints(Agent& agent, std::vector<plan::Endpoint> endpoints,
                             std::optional<Nanos> changed_utc) {
  std::vector<AgentEndpoint> next;
  for (plan::Endpoint& endpoint : endpoints) {
    const AgentEndpoint* before = endpointAt(agent.info, endpoint.address);
    const bool same = before != nullptr && before->endpoint == endpoint;
    const Nanos since = same ? before->since_utc : changed_utc.value_or(0);
    next.push_back({std::move(endpoint), since});
  }
  agent.info.endpoints = std::move(next);
}

Agent* Registry::heard(const std::string& route, Instant now, std::string_view key) {
  const auto found = by_route_.find(route);
  if (found == by_route_.end() || found->second->info.public_key != key) return nullptr;
  Agent& agent = *found->second;
  agent.heard_mono = now.mono;
  agent.info.last_seen_utc = now.utc;
  if (!agent.info.alive) comeBack(agent, now);
  return &agent;
}

void Registry::comeBack(Agent& agent, Instant now) {
  log::info("agent {} is heard again", agent.info.host);
  agent.info.alive = true;
  agent.present_since_utc = now.utc;
  noteChanged(agent);
  watchLease(agent);
}

std::optional<Refusal> Registry::takePageOwners(Agent& agent, const wire::PageOwners& told) {
  auto taken = wire::decode(told);
  if (!taken) return Refusal{wire::Refused::BAD_MESSAGE, taken.error().text()};
  agent.info.page_owners =
      *taken == PageOwners{} ? nullptr : std::make_shared<const PageOwners>(std::move(*taken));
  return std::nullopt;
}

void Registry::goodbye(Agent& agent) { endLease(agent); }

// Ends the lease for good; messages on this connection are ignored until the agent registers again.
void Registry::endLease(Agent& agent) {
  by_route_.erase(agent.route);
  agent.route.clear();
  countAsGone(agent);
}

void Registry::countAsGone(Agent& agent) {
  if (!std::exchange(agent.info.alive, false)) return;
  noteChanged(agent);
}

void Registry::noteChanged(const Agent& agent) {
  changed_.insert(changed_.end(), agent.info.addresses.begin(), agent.info.addresses.end());
}

void Registry::watchLease(Agent& agent) {
  if (agent.in_lease_queue) return;
  agent.in_lease_queue = true;
  leases_.add(agent.heard_mono + kLease, agent.id);
}

void Registry::expire(Instant now) {
  while (const auto id = leases_.take(now.mono)) {
    const auto found = agents_.find(*id);
    if (found == agents_.end()) continue;
    Agent& agent = *found->second;
    agent.in_lease_queue = false;
    if (!agent.info.alive || !agent.info.isHere()) continue;
    if (agent.heard_mono + kLease <= now.mono) {
      log::warning("agent {} has not been heard for {}: it counts as gone", agent.info.host,
                   formatDuration(kLease));
      countAsGone(agent);
    } else {
      watchLease(agent);
    }
  }
}

Presence Registry::presence(const IpAddress& address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return {};
  const Agent& agent = *found->second;
  const AgentEndpoint* endpoint = agent.info.alive ? endpointAt(agent.info, address) : nullptr;
  return {true,
          agent.info.alive,
          agent.present_since_utc,
          endpoint != nullptr,
          endpoint == nullptr ? 0 : endpoint->since_utc,
          agent.info.last_seen_utc};
}

const plan::Endpoint* Registry::endpoint(const IpAddress& address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end() || !found->second->info.alive) return nullptr;
  const AgentEndpoint* at = endpointAt(found->second->info, address);
  return at == nullptr ? nullptr : &at->endpoint;
}

bool Registry::owns(const Agent& agent, const IpAddress& address) const {
  const auto found = by_address_.find(address);
  return found != by_address_.end() && found->second == &agent;
}

const Agent* Registry::owner(const IpAddress& address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

Agent* Registry::find(const std::string& host) {
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? nullptr : found->second;
}

std::size_t Registry::present() const {
  return static_cast<std::size_t>(std::count_if(
      agents_.begin(), agents_.end(),
      [](const auto& entry) { return entry.second->info.alive && entry.second->info.isHere(); }));
}

std::vector<IpAddress> Registry::takeChanged() { return std::exchange(changed_, {}); }

std::shared_ptr<const Hosts> Registry::hosts(std::uint64_t plan_hash) const {
  auto made = std::make_shared<Hosts>();
  made->reserve(agents_.size());
  for (const auto& [id, agent] : agents_) {
    made->push_back(agent->info);
    made->back().plan_hash = agent->plan_hash;
    made->back().plan_current = plan_hash != 0 && agent->plan_hash == plan_hash;
  }
  std::sort(made->begin(), made->end(),
            [](const AgentInfo& a, const AgentInfo& b) { return a.host < b.host; });
  return made;
}

}  // namespace pingloom::controller
