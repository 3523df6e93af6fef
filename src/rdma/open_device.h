// Which of the ways to RDMA an address gets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "rdma/device.h"
#include "rdma/soft/soft_device.h"

namespace pingloom::rdma {

constexpr std::string_view kAutoDevice = "auto";  // the libibverbs device that has the address
constexpr std::string_view kSoftDevice = "soft";  // RoCEv2 in user space: only where asked for

struct DeviceOptions {
  std::string device = std::string(kAutoDevice);  // or a libibverbs device's name
  std::optional<std::uint8_t> port;               // of a named device
  soft::SoftOptions soft;                         // of the soft device
};

// Any thread. The error says what is wrong with the address or device and what to do about it.
Result<std::unique_ptr<Device>> openDevice(const IpAddress& address, const DeviceOptions& options);

}  // namespace pingloom::rdma
