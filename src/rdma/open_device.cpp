#include "rdma/open_device.h"

#include <utility>

#include "common/text.h"
#include "rdma/verbs/verbs_device.h"

namespace pingloom::rdma {
namespace {

verbs::DeviceChoice choiceOf(const IpAddress& address, const DeviceOptions& options) {
  verbs::DeviceChoice choice;
  choice.address = address;
  if (options.device != kAutoDevice) choice.device = options.device;
  choice.port = options.port;
  return choice;
}

}  // namespace

Status parseDeviceName(std::string_view text, DeviceOptions& options) {
  const auto slash = text.find('/');
  const std::string shown = "'" + std::string(text) + "'";
  options.device = text.substr(0, slash);
  options.port.reset();
  if (options.device.empty()) return makeError(shown, "write auto, soft, NAME or NAME/PORT");
  if (slash == std::string_view::npos) return {};
  const auto port = parseUnsigned(text.substr(slash + 1), 255);
  if (!port || *port == 0) return makeError(shown, "the port is not a number 1..255");
  options.port = static_cast<std::uint8_t>(*port);
  return {};
}

Status readValue(const yaml::Node& node, DeviceOptions& options) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto parsed = parseDeviceName(*text, options);
  return parsed ? parsed : node.error(parsed.error().text());
}

Result<std::unique_ptr<Device>> openDevice(const IpAddress& address, const DeviceOptions& options) {
  if (options.device == kSoftDevice) return soft::openSoftDevice(address, options.soft);
  return verbs::openVerbsDevice(choiceOf(address, options));
}

Result<std::vector<std::shared_ptr<Device>>> openDevices(const IpAddress& address,
                                                         std::uint32_t count,
                                                         const DeviceOptions& options) {
  std::vector<std::shared_ptr<Device>> made;
  if (options.device == kSoftDevice) {
    auto opened = soft::openSoftDevices(address, count, options.soft);
    if (!opened) return tl::unexpected(opened.error());
    for (std::unique_ptr<Device>& device : *opened) made.push_back(std::move(device));
    return made;
  }
  auto opened = verbs::openVerbsDevice(choiceOf(address, options));
  if (!opened) return tl::unexpected(opened.error());
  made.assign(count, std::move(*opened));
  return made;
}

std::vector<IpAddress> addressesWithDevice(std::span<const IpAddress> addresses,
                                           const DeviceOptions& options) {
  if (options.device == kSoftDevice) return {addresses.begin(), addresses.end()};
  std::vector<IpAddress> found;
  auto devices = verbs::listDevices();
  if (!devices) return found;
  for (DeviceDetails& device : *devices) {
    for (PortDetails& port : device.ports) port.active = true;
  }
  for (const IpAddress& address : addresses) {
    if (verbs::explainChoice(*devices, choiceOf(address, options))) found.push_back(address);
  }
  return found;
}

}  // namespace pingloom::rdma
