#include "rdma/verbs/device_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"

namespace pingloom::rdma::verbs {
namespace {

std::string entityOf(const DeviceChoice& choice) {
  std::vector<std::string> parts;
  if (!choice.device.empty()) parts.push_back(choice.device);
  if (choice.port) parts.push_back(fmt::format("port {}", *choice.port));
  if (choice.address) parts.push_back(choice.address->text());
  return parts.empty() ? "rdma" : join(parts, " ");
}

bool isUsable(const GidDetails& gid, LinkLayer layer) {
  return layer == LinkLayer::kInfiniband || gid.type == GidType::kRoceV2;
}

bool portMatches(const PortDetails& port, const DeviceChoice& choice) {
  return !choice.port || *choice.port == port.number;
}

const GidDetails* findGid(const PortDetails& port, const Gid& gid) {
  const auto found = std::find_if(port.gids.begin(), port.gids.end(), [&](const GidDetails& one) {
    return one.gid == gid && isUsable(one, port.link_layer);
  });
  return found == port.gids.end() ? nullptr : &*found;
}

// Returns the GID to use without an address: the port's own GID on InfiniBand; with RoCE an IPv4
// GID, else global IPv6, else link-local, with the lowest index.
const GidDetails* defaultGid(const PortDetails& port) {
  const auto rank = [&](const GidDetails& gid) {
    if (port.link_layer == LinkLayer::kInfiniband) return gid.index == 0 ? 0 : 1;
    const IpAddress address = gid.gid.address();
    return address.isV4() ? 0 : address.isLinkLocal() ? 2 : 1;
  };
  const GidDetails* best = nullptr;
  for (const GidDetails& gid : port.gids) {
    if (!isUsable(gid, port.link_layer)) continue;
    if (best == nullptr || rank(gid) < rank(*best)) best = &gid;
  }
  return best;
}

std::string nameList(const std::vector<DeviceDetails>& devices) {
  std::vector<std::string> names;
  names.reserve(devices.size());
  for (const DeviceDetails& device : devices) names.push_back(device.name);
  return names.empty() ? "none" : join(names, ", ");
}

// Lists the addresses of the ports that match, e.g. "10.0.0.1, fd00::1".
std::string addressList(const std::vector<DeviceDetails>& devices, const DeviceChoice& choice) {
  constexpr std::size_t kMax = 8;
  std::vector<std::string> found;
  for (const DeviceDetails& device : devices) {
    if (!choice.device.empty() && device.name != choice.device) continue;
    for (const PortDetails& port : device.ports) {
      if (port.link_layer != LinkLayer::kEthernet || !portMatches(port, choice)) continue;
      for (const GidDetails& gid : port.gids) {
        if (gid.type != GidType::kRoceV2 || gid.gid.address().isLinkLocal()) continue;
        found.push_back(fmt::format("{} ({})", gid.gid.address().text(), device.name));
      }
    }
  }
  if (found.size() > kMax) {
    found.resize(kMax);
    found.emplace_back("...");
  }
  return found.empty() ? "none" : join(found, ", ");
}

// The ports that match. The first active one is chosen; if none is active, the error is about the
// first one.
class Candidates {
 public:
  void add(const DeviceDetails& device, const PortDetails& port, const GidDetails* gid) {
    if (!first_) first_ = Chosen{&device, &port, gid};
    if (!active_ && port.active && gid != nullptr) active_ = Chosen{&device, &port, gid};
  }
  const std::optional<Chosen>& first() const { return first_; }
  const std::optional<Chosen>& active() const { return active_; }

 private:
  std::optional<Chosen> first_;
  std::optional<Chosen> active_;
};

tl::unexpected<Error> unusable(const std::string& entity, const Chosen& chosen) {
  const std::string place = fmt::format("{} port {}", chosen.device->name, chosen.port->number);
  if (!chosen.port->active) {
    return makeError(entity, fmt::format("{} is down ({}): check the cable and the link ({})",
                                         place, chosen.port->state,
                                         chosen.port->link_layer == LinkLayer::kEthernet
                                             ? "ip link"
                                             : "ibstat; is a subnet manager running?"));
  }
  return makeError(entity, place +
                               " has no RoCE v2 GID: give its network interface an IP address, and "
                               "enable RoCE v2 if the driver only offers v1");
}

// Explains why no port has the address; the likeliest reason comes first.
tl::unexpected<Error> notFound(const std::vector<DeviceDetails>& devices,
                               const DeviceChoice& choice) {
  const std::string entity = entityOf(choice);
  for (const DeviceDetails& device : devices) {
    if (!device.problem.empty()) return makeError(entity, device.problem);
  }
  const Gid wanted = Gid::of(*choice.address);
  for (const DeviceDetails& device : devices) {
    for (const PortDetails& port : device.ports) {
      for (const GidDetails& gid : port.gids) {
        if (gid.gid != wanted || isUsable(gid, port.link_layer)) continue;
        return makeError(entity, fmt::format("{} port {} has it as {} only: enable RoCE v2",
                                             device.name, port.number, name(gid.type)));
      }
    }
  }
  return makeError(
      entity, fmt::format("no RDMA port has this address; those with RoCE v2: {}; write 'device: "
                          "NAME' to use another device (here: {}), {}",
                          addressList(devices, choice), nameList(devices), kOrSoft));
}

}  // namespace

Result<Chosen> choose(const std::vector<DeviceDetails>& devices, const DeviceChoice& choice,
                      const std::optional<Gid>& port_gid) {
  const std::string entity = entityOf(choice);
  if (devices.empty()) {
    return makeError(entity, fmt::format("there is no RDMA device on this host: load its driver "
                                         "(see rdma link), {}",
                                         kOrSoft));
  }
  Candidates found;
  bool known = choice.device.empty();
  for (const DeviceDetails& device : devices) {
    if (!choice.device.empty() && device.name != choice.device) continue;
    known = true;
    if (!choice.device.empty() && !device.problem.empty()) return makeError(entity, device.problem);
    for (const PortDetails& port : device.ports) {
      if (!portMatches(port, choice)) continue;
      if (!choice.address ||
          (port.link_layer == LinkLayer::kInfiniband && !choice.device.empty())) {
        found.add(device, port, defaultGid(port));
      } else if (const GidDetails* gid = findGid(port, Gid::of(*choice.address))) {
        found.add(device, port, gid);
      } else if (port.link_layer == LinkLayer::kInfiniband && port_gid) {
        if (const GidDetails* own = findGid(port, *port_gid)) found.add(device, port, own);
      }
    }
  }
  if (!known) {
    return makeError(entity, fmt::format("there is no RDMA device '{}'; there are: {}, {}",
                                         choice.device, nameList(devices), kOrSoft));
  }
  if (found.active()) return *found.active();
  if (found.first()) return unusable(entity, *found.first());
  if (choice.address) return notFound(devices, choice);
  return makeError(entity, choice.port ? "the device has no such port" : "the device has no port");
}

}  // namespace pingloom::rdma::verbs
