#include "rdma/open_device.h"

#include "rdma/verbs/verbs_device.h"

namespace pingloom::rdma {

Result<std::unique_ptr<Device>> openDevice(const IpAddress& address, const DeviceOptions& options) {
  if (options.device == kSoftDevice) return soft::openSoftDevice(address, options.soft);
  verbs::DeviceChoice choice;
  choice.address = address;
  if (options.device != kAutoDevice) choice.device = options.device;
  choice.port = options.port;
  return verbs::openVerbsDevice(choice);
}

}  // namespace pingloom::rdma
