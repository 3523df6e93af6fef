#include "cli/mtu_check.h"

#include <fmt/format.h>
#include <net/if_arp.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "agent/own_addresses.h"
#include "cli/json_fields.h"
#include "rdma/rc_endpoint.h"
#include "rdma/soft/interface_watch.h"
#include "wire/probe_packet.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;

// The MTU of such an interface is that of IPoIB, which says nothing about the RDMA path.
bool isInfiniband(const std::string& interface) {
  int type = 0;
  std::ifstream("/sys/class/net/" + interface + "/type") >> type;
  return type == ARPHRD_INFINIBAND;
}

}  // namespace

void KnownMtus::lower(const IpAddress& address, Limit limit) {
  const auto [at, fresh] = limits_.try_emplace(address, limit);
  if (!fresh && limit.bytes < at->second.bytes) at->second = std::move(limit);
}

void KnownMtus::addInterfaces(const plan::Plan& plan) {
  const plan::AddressList planned = plan::allAddresses(plan);
  for (const IpAddress& address : agent::machineAddresses()) {
    if (!plan::contains(planned, address)) continue;
    const auto interface = rdma::soft::interfaceStateOf(address);
    if (!interface || !interface->hasAddress() || isInfiniband(interface->name)) continue;
    lower(address,
          {interface->mtu, fmt::format("the MTU {} of {}", interface->link_mtu, interface->name)});
  }
}

void KnownMtus::addEndpoints(const Json& hosts) {
  for (const Json& agent : listAt(hosts, "/hosts")) {
    if (fieldAt(agent, "/alive") != Json(true)) continue;
    for (const Json& endpoint : listAt(agent, "/endpoints")) {
      const auto address = IpAddress::parse(textAt(endpoint, "/address"));
      const Json& mtu = fieldAt(endpoint, "/mtu");
      if (!address || !mtu.is_number_unsigned()) continue;
      lower(*address, {mtu.get<std::size_t>(), "its RDMA endpoint"});
    }
  }
}

std::string KnownMtus::misfit(const plan::Plan& plan, const plan::ProbeSpec& probe) const {
  const std::size_t bytes = wire::paddedPing(probe.payload);
  if (bytes > rdma::kMaxPathMtu) {
    return fmt::format(
        "probe {}: PINGs of {} bytes fit nowhere, because a path MTU of RDMA is at "
        "most {}; make `payload` smaller",
        probe.name, bytes, rdma::kMaxPathMtu);
  }
  std::set<IpAddress> too_small;
  for (const std::string* list : {&probe.sources, &probe.destinations}) {
    for (const IpAddress& address : plan.list(*list)) {
      const auto known = limits_.find(address);
      if (known != limits_.end() && bytes > known->second.bytes) too_small.insert(address);
    }
  }
  if (too_small.empty()) return "";
  const IpAddress& first = *too_small.begin();
  const Limit& limit = limits_.at(first);
  std::string more;
  if (too_small.size() > 1) more = fmt::format(", nor at {} more addresses", too_small.size() - 1);
  return fmt::format(
      "probe {}: PINGs of {} bytes do not fit at {}, where {} permits {} bytes{}; make `payload` "
      "smaller or the MTU larger",
      probe.name, bytes, first.text(), limit.what, limit.bytes, more);
}

std::vector<std::string> KnownMtus::misfits(const plan::Plan& plan) const {
  std::vector<std::string> made;
  for (const plan::ProbeSpec& probe : plan.probes) {
    if (probe.protocol != Protocol::kRdma) continue;
    if (std::string text = misfit(plan, probe); !text.empty()) made.push_back(std::move(text));
  }
  return made;
}

bool dependsOnEndpoints(const plan::Plan& plan) {
  return std::any_of(plan.probes.begin(), plan.probes.end(), [](const plan::ProbeSpec& probe) {
    return probe.protocol == Protocol::kRdma && wire::paddedPing(probe.payload) > rdma::kMinPathMtu;
  });
}

}  // namespace pingloom::cli
