#include "cli/devices_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "common/json_text.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;

std::string gidText(const rdma::Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.bytes.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.bytes[i], gid.bytes[i + 1]);
  }
  return text;
}

std::string rateText(std::uint64_t bits_per_second) {
  if (bits_per_second == 0) return "unknown";
  return fmt::format("{:g} Gbit/s", static_cast<double>(bits_per_second) / 1e9);
}

std::string clockText(const rdma::DeviceDetails& device) {
  if (!device.hasHardwareTimestamps()) return "software (the device has no completion timestamps)";
  return fmt::format("hardware, {:.3f} MHz, mask {:#x}",
                     static_cast<double>(device.core_clock_khz) / 1e3, device.timestamp_mask);
}

std::string textOfPort(const rdma::PortDetails& port) {
  std::string text = fmt::format("  port {}: {}, {}, {}, MTU {} (at most {})", port.number,
                                 printable(port.state), rdma::name(port.link_layer),
                                 rateText(port.bits_per_second), port.active_mtu, port.max_mtu);
  if (port.lid != 0) text += fmt::format(", LID {:#x}", port.lid);
  text += "\n";
  for (const rdma::GidDetails& gid : port.gids) {
    const bool is_ip = gid.type != rdma::GidType::kInfiniband;
    text += fmt::format("    GID {:<3} {}  {}{}{}\n", gid.index, gidText(gid.gid),
                        rdma::name(gid.type), is_ip ? "  " + gid.gid.address().text() : "",
                        gid.interface.empty() ? "" : "  " + printable(gid.interface));
  }
  return text;
}

Json jsonOfPort(const rdma::PortDetails& port) {
  Json gids = Json::array();
  for (const rdma::GidDetails& gid : port.gids) {
    Json entry = {{"index", gid.index},
                  {"gid", gidText(gid.gid)},
                  {"type", rdma::name(gid.type)},
                  {"interface", printable(gid.interface)}};
    if (gid.type != rdma::GidType::kInfiniband) entry["address"] = gid.gid.address().text();
    gids.push_back(std::move(entry));
  }
  return {{"port", port.number},
          {"state", printable(port.state)},
          {"active", port.active},
          {"link_layer", rdma::name(port.link_layer)},
          {"active_mtu", port.active_mtu},
          {"max_mtu", port.max_mtu},
          {"bits_per_second", port.bits_per_second},
          {"lid", port.lid},
          {"gids", std::move(gids)}};
}

}  // namespace

std::string textOf(const std::vector<rdma::DeviceDetails>& devices, const CountersOf& counters) {
  std::string text;
  for (const rdma::DeviceDetails& device : devices) {
    text += printable(device.name);
    if (!device.problem.empty()) {
      text += ": " + printable(device.problem) + "\n";
      continue;
    }
    text += fmt::format(": firmware {}, vendor {:#06x}, part {}\n  timestamps: {}\n",
                        device.firmware.empty() ? "unknown" : printable(device.firmware),
                        device.vendor_id, device.part_id, clockText(device));
    for (const rdma::PortDetails& port : device.ports) {
      text += textOfPort(port);
      for (const rdma::PortCounter& counter : counters(device, port.number)) {
        text += fmt::format("    {} {}\n", counter.name, counter.value);
      }
    }
  }
  return text;
}

std::string jsonOf(const std::vector<rdma::DeviceDetails>& devices, const CountersOf& counters) {
  Json document = Json::array();
  for (const rdma::DeviceDetails& device : devices) {
    Json ports = Json::array();
    for (const rdma::PortDetails& port : device.ports) {
      Json entry = jsonOfPort(port);
      for (const rdma::PortCounter& counter : counters(device, port.number)) {
        entry["counters"][counter.name] = counter.value;
      }
      ports.push_back(std::move(entry));
    }
    Json entry = {{"device", printable(device.name)}, {"ports", std::move(ports)}};
    if (!device.problem.empty()) entry["problem"] = printable(device.problem);
    if (device.hasHardwareTimestamps()) {
      entry["timestamps"] = {{"khz", device.core_clock_khz}, {"mask", device.timestamp_mask}};
    }
    document.push_back(std::move(entry));
  }
  return jsonText(document) + "\n";
}

std::string textOf(const std::string& address, const rdma::DeviceInfo& chosen) {
  return fmt::format(
      "{}: {}/{}, {}, GID {}, MTU {}, {} timestamps, iCRC check: {}, flow labels {}, paths are "
      "{}\n",
      address, printable(chosen.name), chosen.port, rdma::name(chosen.link_layer),
      gidText(chosen.gid), chosen.mtu, name(chosen.clock.source()), chosen.icrc_check,
      chosen.flow_label_chooses_path ? "choose the UDP source port" : "do not change the path",
      chosen.source_ports_known ? "traced" : "not traced");
}

}  // namespace pingloom::cli
