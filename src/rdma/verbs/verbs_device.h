// Finds, describes and opens RDMA devices through libibverbs.
#pragma once

#include <memory>
#include <vector>

#include "rdma/device.h"
#include "rdma/device_details.h"
#include "rdma/verbs/device_choice.h"

namespace pingloom::rdma::verbs {

// Opens the device and port that `choice` selects. Ports go down, addresses move and devices are
// removed, so the caller has to open the device again when an endpoint on it fails. The error says
// what is wrong and what the user can do.
Result<std::unique_ptr<Device>> openVerbsDevice(const DeviceChoice& choice);

// Lists all devices. If a device cannot be queried, its `problem` says why. The result is an error
// if the list itself cannot be read.
Result<std::vector<DeviceDetails>> listDevices();

// Returns which device, port and GID out of listDevices() an endpoint for `choice` would get.
Result<Chosen> explainChoice(const std::vector<DeviceDetails>& devices, const DeviceChoice& choice);

// Reads the counters of a device of listDevices() from sysfs; counters that it lacks are absent.
std::vector<PortCounter> portCounters(const DeviceDetails& device, std::uint8_t port);

}  // namespace pingloom::rdma::verbs
