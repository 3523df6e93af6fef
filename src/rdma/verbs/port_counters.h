// Reads the counters that a port's driver keeps in sysfs. It needs no libibverbs and opens no
// device.
#pragma once

#include <filesystem>
#include <vector>

#include "rdma/device_details.h"

namespace pingloom::rdma::verbs {

// Reads `counters` and `hw_counters` of the port directory /sys/class/infiniband/DEVICE/ports/PORT.
// The result is sorted by name and has at most 512 entries; counters that the device lacks or that
// cannot be read are absent.
std::vector<PortCounter> readPortCounters(const std::filesystem::path& port_directory);

}  // namespace pingloom::rdma::verbs
