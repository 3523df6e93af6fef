#include "agent/counter_places.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>

#include "common/file.h"
#include "common/nic_counter.h"
#include "common/text.h"

namespace pingloom::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntries = 4096;  // of a folder
constexpr std::size_t kMaxPlaceBytes = 4096;
constexpr std::string_view kLower = "lower_";

std::vector<std::string> namesIn(const fs::path& directory) {
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed), end;
       !failed && at != end && found.size() < kMaxEntries; at.increment(failed)) {
    found.push_back(at->path().filename());
  }
  return found;
}

// Other names could not be told to the controller.
bool isTold(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNicDevice && isOneWord(name) &&
         invalidUtf8At(name) == std::string_view::npos;
}

std::string lineIn(const fs::path& file) {
  const auto text = readFile(file, kMaxPlaceBytes);
  return text ? std::string(trimmed(*text)) : std::string();
}

std::set<std::string> withThoseBelow(const fs::path& sysfs,
                                     const std::vector<std::string>& interfaces) {
  std::set<std::string> all;
  std::vector<std::string> next = interfaces;
  while (!next.empty() && all.size() < CounterPlaces::kMaxInterfaces) {
    const std::string interface = std::move(next.back());
    next.pop_back();
    // Loopback has no port, and neither has a name that leads elsewhere.
    if (interface == "lo" || interface.find('/') != std::string::npos) continue;
    if (!isTold(interface)) continue;
    if (!all.insert(interface).second) continue;
    for (const std::string& name : namesIn(sysfs / "class/net" / interface)) {
      if (name.starts_with(kLower)) next.push_back(name.substr(kLower.size()));
    }
  }
  return all;
}

// A RoCE port's GIDs say which interface each belongs to. Empty entries cannot be read.
bool hasGidOf(const fs::path& port, const std::set<std::string>& interfaces) {
  for (const std::string& name : namesIn(port / "gid_attrs/ndevs")) {
    if (interfaces.contains(lineIn(port / "gid_attrs/ndevs" / name))) return true;
  }
  return false;
}

// IPoIB's GIDs name no interface, but the interface's device has the RDMA device below it.
bool sharesDevice(const fs::path& sysfs, const RdmaPortPlace& place, std::size_t ports,
                  const std::set<std::string>& interfaces) {
  std::error_code failed;
  return std::any_of(interfaces.begin(), interfaces.end(), [&](const std::string& interface) {
    const fs::path net = sysfs / "class/net" / interface;
    if (!fs::exists(net / "device/infiniband" / place.device, failed)) return false;
    const auto number = parseUnsigned(lineIn(net / "dev_port"), kMaxNicPort - 1);
    return ports == 1 || (number && *number + 1 == place.port);
  });
}

}  // namespace

std::vector<std::string> interfacesOf(const std::vector<IpAddress>& addresses) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::set<std::string> found;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const IpAddress address = IpAddress::fromSockaddr(at->ifa_addr);
    if (std::find(addresses.begin(), addresses.end(), address) != addresses.end()) {
      found.insert(at->ifa_name);
    }
  }
  return {found.begin(), found.end()};
}

CounterPlaces counterPlaces(const fs::path& sysfs, const std::vector<std::string>& interfaces) {
  const std::set<std::string> all = withThoseBelow(sysfs, interfaces);
  CounterPlaces places;
  places.interfaces.assign(all.begin(), all.end());
  const fs::path devices = sysfs / "class/infiniband";
  for (const std::string& device : namesIn(devices)) {
    if (!isTold(device)) continue;
    const auto ports = namesIn(devices / device / "ports");
    for (const std::string& name : ports) {
      const auto number = parseUnsigned(name, kMaxNicPort);
      if (!number || *number == 0) continue;
      const RdmaPortPlace place{device, static_cast<std::uint32_t>(*number)};
      if (hasGidOf(devices / device / "ports" / name, all) ||
          sharesDevice(sysfs, place, ports.size(), all)) {
        places.rdma_ports.push_back(place);
      }
    }
  }
  std::sort(places.rdma_ports.begin(), places.rdma_ports.end());
  if (places.rdma_ports.size() > CounterPlaces::kMaxRdmaPorts) {
    places.rdma_ports.resize(CounterPlaces::kMaxRdmaPorts);
  }
  return places;
}

}  // namespace pingloom::agent
