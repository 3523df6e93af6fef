#include "rdma/verbs/device_query.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "common/file.h"
#include "common/text.h"

namespace pingloom::rdma::verbs {
namespace {

constexpr std::uint32_t mtuBytes(ibv_mtu mtu) {
  return mtu < IBV_MTU_256 || mtu > IBV_MTU_4096 ? 0 : 128U << mtu;
}

// Returns the number of lanes times their rate, or 0 for unknown codes.
std::uint64_t bitsPerSecond(std::uint8_t width, std::uint8_t speed) {
  const std::uint64_t lanes = width == 1    ? 1
                              : width == 2  ? 4
                              : width == 4  ? 8
                              : width == 8  ? 12
                              : width == 16 ? 2
                                            : 0;
  constexpr std::uint64_t kMega = 1'000'000;
  switch (speed) {
    case 1:  // SDR
      return lanes * 2'500 * kMega;
    case 2:  // DDR
      return lanes * 5'000 * kMega;
    case 4:  // QDR
    case 8:  // FDR10
      return lanes * 10'000 * kMega;
    case 16:  // FDR
      return lanes * 14'000 * kMega;
    case 32:  // EDR
      return lanes * 25'000 * kMega;
    case 64:  // HDR
      return lanes * 50'000 * kMega;
    case 128:  // NDR
      return lanes * 100'000 * kMega;
    default:
      return 0;
  }
}

std::string interfaceName(std::uint32_t index) {
  char text[IF_NAMESIZE] = {};
  return index != 0 && if_indextoname(index, text) != nullptr ? text : "";
}

std::string netFile(const std::string& interface, std::string_view what) {
  constexpr std::size_t kMax = 4096;
  auto text = readFile("/sys/class/net/" + interface + "/" + std::string(what), kMax);
  if (!text) return "";
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *text;
}

std::uint32_t linkMtu(const std::string& interface) {
  if (interface.empty()) return 0;
  return static_cast<std::uint32_t>(parseUnsigned(netFile(interface, "mtu"), 1U << 20).value_or(0));
}

PortDetails portOf(std::uint8_t number, const ibv_port_attr& attributes) {
  PortDetails port;
  port.number = number;
  port.active = attributes.state == IBV_PORT_ACTIVE;
  port.state = ibv_port_state_str(attributes.state);
  port.link_layer = attributes.link_layer == IBV_LINK_LAYER_ETHERNET ? LinkLayer::kEthernet
                                                                     : LinkLayer::kInfiniband;
  port.active_mtu = mtuBytes(attributes.active_mtu);
  port.max_mtu = mtuBytes(attributes.max_mtu);
  port.bits_per_second = bitsPerSecond(attributes.active_width, attributes.active_speed);
  port.lid = attributes.lid;
  return port;
}

GidDetails gidOf(const ibv_gid_entry& entry) {
  GidDetails details;
  details.index = entry.gid_index;
  std::memcpy(details.gid.bytes.data(), entry.gid.raw, sizeof entry.gid.raw);
  details.type = entry.gid_type == IBV_GID_TYPE_ROCE_V2   ? GidType::kRoceV2
                 : entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? GidType::kRoceV1
                                                          : GidType::kInfiniband;
  details.interface = interfaceName(entry.ndev_ifindex);
  details.link_mtu = linkMtu(details.interface);
  return details;
}

// Fills the ports' GID tables from the device's one list.
Status queryGids(ibv_context* context, std::size_t most, DeviceDetails& details) {
  std::vector<ibv_gid_entry> entries(most);
  const ssize_t got = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  if (got < 0) {
    return makeErrnoError(details.name, "cannot read the GID table", static_cast<int>(-got));
  }
  for (const ibv_gid_entry& entry : std::span(entries).first(static_cast<std::size_t>(got))) {
    for (PortDetails& port : details.ports) {
      if (port.number == entry.port_num) port.gids.push_back(gidOf(entry));
    }
  }
  for (PortDetails& port : details.ports) {
    std::sort(port.gids.begin(), port.gids.end(),
              [](const GidDetails& a, const GidDetails& b) { return a.index < b.index; });
  }
  return {};
}

Status query(ibv_context* context, DeviceDetails& details) {
  ibv_device_attr_ex device{};
  if (const int failed = ibv_query_device_ex(context, nullptr, &device); failed != 0) {
    return makeErrnoError(details.name, "cannot ask the device what it is", failed);
  }
  const ibv_device_attr& attributes = device.orig_attr;
  details.firmware.assign(attributes.fw_ver, strnlen(attributes.fw_ver, sizeof attributes.fw_ver));
  details.vendor_id = attributes.vendor_id;
  details.part_id = attributes.vendor_part_id;
  details.timestamp_mask = device.completion_timestamp_mask;
  details.core_clock_khz = device.hca_core_clock;
  std::size_t gids = 0;
  for (std::uint8_t number = 1; number <= attributes.phys_port_cnt; ++number) {
    ibv_port_attr port{};
    if (const int failed = ibv_query_port(context, number, &port); failed != 0) {
      return makeErrnoError(details.name, "cannot ask a port what it is", failed);
    }
    details.ports.push_back(portOf(number, port));
    gids += static_cast<std::size_t>(std::max(port.gid_tbl_len, 0));
  }
  return queryGids(context, gids, details);
}

}  // namespace

DeviceDetails queryDevice(ibv_device* device) {
  DeviceDetails details;
  details.name = ibv_get_device_name(device);
  details.sysfs_path = static_cast<const char*>(device->ibdev_path);
  const auto context = openContext(device);
  const Status asked =
      context ? query(context->get(), details) : Status(tl::unexpected<Error>(context.error()));
  if (!asked) {
    details.problem = asked.error().text();
    details.ports.clear();
  }
  return details;
}

std::optional<Gid> gidOfHardwareAddress(std::string_view text) {
  constexpr std::size_t kBytes = 20;  // flags and QPN in four, then the port's GID
  if (text.size() != kBytes * 3 - 1) return std::nullopt;
  Gid gid;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const char* at = text.data() + i * 3;
    std::uint8_t byte = 0;
    const auto parsed = std::from_chars(at, at + 2, byte, 16);
    if (parsed.ec != std::errc() || parsed.ptr != at + 2) return std::nullopt;
    if (i + 1 < kBytes && at[2] != ':') return std::nullopt;
    if (i >= kBytes - gid.bytes.size()) gid.bytes[i - (kBytes - gid.bytes.size())] = byte;
  }
  return gid;
}

std::optional<Gid> ipoibGid(const IpAddress& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (IpAddress::fromSockaddr(one->ifa_addr) != address) continue;
    if (const auto gid = gidOfHardwareAddress(netFile(one->ifa_name, "address"))) return gid;
  }
  return std::nullopt;
}

}  // namespace pingloom::rdma::verbs
