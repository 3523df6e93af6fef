#include <arpa/inet.h>

#include <array>
#include <set>

#include "controller/http/api.h"
#include "controller/http/json_answer.h"
#include "controller/model/host_labels.h"

namespace pingloom::controller::api {
namespace {

// Writes a GID in IPv6 notation, such as "::ffff:10.0.0.1", like RDMA tools.
std::string gidText(const plan::Endpoint& endpoint) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET6, endpoint.gid.data(), text.data(), text.size());
}

Json endpointsJson(const AgentInfo& agent) {
  Json endpoints = Json::array();
  for (const auto& [endpoint, since_utc] : agent.endpoints) {
    endpoints.push_back({{"address", endpoint.address.text()},
                         {"device", endpoint.device},
                         {"clock", name(endpoint.clock)},
                         {"gid", gidText(endpoint)},
                         {"lid", endpoint.lid == 0 ? Json() : Json(endpoint.lid)},
                         {"qpn", endpoint.qpn},
                         {"mtu", endpoint.mtu == 0 ? Json() : Json(endpoint.mtu)},
                         {"since", utcOrNull(since_utc)}});
  }
  return endpoints;
}

Json pageOwnersJson(const PageOwners& told) {
  Json owners = Json::array();
  for (const PageOwner& owner : told.owners) {
    owners.push_back({{"application", owner.application},
                      {"pid", owner.process},
                      {"uid", owner.user},
                      {"pages", owner.pages},
                      {"metrics", owner.metrics}});
  }
  return {{"owners", std::move(owners)}, {"left_out", told.left_out}};
}

Json addressesJson(const std::vector<IpAddress>& addresses) {
  Json texts = Json::array();
  for (const IpAddress& address : addresses) texts.push_back(address.text());
  return texts;
}

Json labelsJson(const AddressLabels& labels) {
  Json json = Json::object();
  for (const auto& [label, value] : labels) json[std::string(label)] = value;
  return json;
}

// Returns an address's name and labels in the pinglist.
Json placeJson(const IpAddress& address, const GridPlan& plan, const HostLabels& labels) {
  return {{"address", address.text()},
          {"name", plan.nameOf(address)},
          {"labels", labelsJson(labels.of(address).value_or(AddressLabels()))}};
}

// Returns the labels that all of the agent's addresses in the pinglist share: the host's, but not
// an address's own.
AddressLabels commonLabels(const AgentInfo& agent, const HostLabels& labels) {
  std::optional<AddressLabels> common;
  for (const IpAddress& address : agent.addresses) {
    auto here = labels.of(address);
    if (!here) continue;
    if (!common) {
      common = std::move(here);
      continue;
    }
    std::erase_if(*common, [&here](const auto& label) {
      const auto same = here->find(label.first);
      return same == here->end() || same->second != label.second;
    });
  }
  return common.value_or(AddressLabels());
}

Json agentJson(const AgentInfo& agent, const GridPlan& plan, const HostLabels& labels) {
  Json addresses = Json::array();
  for (const IpAddress& address : agent.addresses) {
    addresses.push_back(placeJson(address, plan, labels));
  }
  return {{"host", agent.host},
          {"controller", textOrNull(agent.controller)},
          {"alive", agent.alive},
          {"addresses", std::move(addresses)},
          {"labels", labelsJson(commonLabels(agent, labels))},
          {"rdma_addresses", addressesJson(agent.rdma_addresses)},
          {"endpoints", endpointsJson(agent)},
          {"port", agent.port},
          {"incarnation", std::to_string(agent.incarnation)},  // exceeds JSON's exact numbers
          {"version", agent.software_version},
          {"public_key", textOrNull(agent.public_key)},
          {"pages", agent.pages ? Json(agent.pages->text()) : Json()},
          {"page_owners", pageOwnersJson(agent.page_owners ? *agent.page_owners : PageOwners{})},
          {"first_seen", utcOrNull(agent.first_seen_utc)},
          {"last_seen", utcOrNull(agent.last_seen_utc)},
          {"plan", hashOrNull(agent.plan_hash)},
          {"plan_in_force", hashOrNull(plan.hash)},
          {"plan_current", agent.plan_current},
          {"spooled_batches", agent.spooled_batches},
          {"spooled_bytes", agent.spooled_bytes},
          {"spool_dropped", agent.spool_dropped},
          {"pings_sent", agent.pings_sent},
          {"pings_skipped", agent.pings_skipped},
          {"stalls", agent.stalls},
          {"refused_packets", agent.refused_packets},
          {"error_counters_moved",
           agent.counters == nullptr ? Json() : Json(errorsMoved(*agent.counters, utcNow()))}};
}

// Returns the sources of probes for which no agent has ever registered.
Json unregisteredJson(const GridPlan& plan, const Hosts& hosts, const HostLabels& labels) {
  std::set<IpAddress> missing;
  for (const ProbeGrid& grid : plan.probes) {
    missing.insert(grid.sources.begin(), grid.sources.end());
  }
  for (const AgentInfo& agent : hosts) {
    for (const IpAddress& address : agent.addresses) missing.erase(address);
  }
  Json json = Json::array();
  for (const IpAddress& address : missing) {
    json.push_back(placeJson(address, plan, labels));
  }
  return json;
}

}  // namespace

http::Response hosts(const Board& board) {
  const auto plan = board.plan();
  const auto agents = board.hosts();
  const HostLabels labels(plan->pinglist.get());
  Json json = {{"hosts", Json::array()},
               {"unregistered", unregisteredJson(*plan, *agents, labels)}};
  for (const AgentInfo& agent : *agents) {
    json["hosts"].push_back(agentJson(agent, *plan, labels));
  }
  return jsonAnswer(json);
}

}  // namespace pingloom::controller::api
