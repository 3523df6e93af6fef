#include "rdma/device_name.h"

#include "common/text.h"

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

}  // namespace pingloom::rdma
