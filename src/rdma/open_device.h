// Chooses and opens the device that an address uses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/yaml.h"
#include "rdma/device.h"
#include "rdma/soft/soft_device.h"

namespace pingloom::rdma {

constexpr std::string_view kAutoDevice = "auto";  // the libibverbs device that has the address
constexpr std::string_view kSoftDevice = "soft";  // RoCEv2 in user space; never chosen by "auto"

struct DeviceOptions {
  std::string device = std::string(kAutoDevice);  // may also name a libibverbs device
  std::optional<std::uint8_t> port;               // only for a named device
  soft::SoftOptions soft;                         // only for the soft device
};

// Sets the device and port from a name as configurations write it: "auto", "soft", "mlx5_0" or
// "mlx5_0/2". The other options are left unchanged.
Status parseDeviceName(std::string_view text, DeviceOptions& options);
// Reads the same from a configuration, for common/config_reader.h.
Status readValue(const yaml::Node& node, DeviceOptions& options);

// Any thread. The error says what is wrong with the address or device, and what the user can do.
Result<std::unique_ptr<Device>> openDevice(const IpAddress& address, const DeviceOptions& options);

// Opens the device for as many threads, each of which uses the one with its number. The threads get
// soft devices of their own, and share a libibverbs device. Close them together. REQUIRES:
// count > 0.
Result<std::vector<std::shared_ptr<Device>>> openDevices(const IpAddress& address,
                                                         std::uint32_t count,
                                                         const DeviceOptions& options);

// Returns those of a host's addresses that openDevice() would find a device for. A port counts even
// while it is down, because that is a fault to be measured. Any thread; it queries every device.
std::vector<IpAddress> addressesWithDevice(std::span<const IpAddress> addresses,
                                           const DeviceOptions& options);

}  // namespace pingloom::rdma
