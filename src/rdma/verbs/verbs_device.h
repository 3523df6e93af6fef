// RDMA devices by libibverbs: found, described, opened.
#pragma once

#include <memory>
#include <vector>

#include "rdma/device.h"
#include "rdma/device_details.h"
#include "rdma/verbs/device_choice.h"

namespace pingloom::rdma::verbs {

// The device and port that `choice` means. What it finds is of this moment: where an endpoint on it
// fails, it is to be opened anew, for ports go down, addresses move and devices are removed. The
// error says what is wrong and what to do about it.
Result<std::unique_ptr<Device>> openVerbsDevice(const DeviceChoice& choice);

// All there are. One that cannot be asked says why in `problem`; an error where none can be listed.
Result<std::vector<DeviceDetails>> listDevices();

// Which device, port and GID an endpoint for `choice` would get, out of listDevices().
Result<Chosen> explainChoice(const std::vector<DeviceDetails>& devices, const DeviceChoice& choice);

// Of one of listDevices(), read from sysfs; what a device does not have is absent.
std::vector<PortCounter> portCounters(const DeviceDetails& device, std::uint8_t port);

}  // namespace pingloom::rdma::verbs
