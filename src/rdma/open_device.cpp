#include "rdma/open_device.h"

#include "common/text.h"
#include "rdma/verbs/verbs_device.h"

namespace pingloom::rdma {

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
  verbs::DeviceChoice choice;
  choice.address = address;
  if (options.device != kAutoDevice) choice.device = options.device;
  choice.port = options.port;
  return verbs::openVerbsDevice(choice);
}

}  // namespace pingloom::rdma
