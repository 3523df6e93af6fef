// The counters that a port's driver keeps in sysfs. Reading them needs no libibverbs and opens no
// device.
#pragma once

#include <filesystem>
#include <vector>

#include "rdma/device_details.h"

namespace pingloom::rdma::verbs {

// Of the port directory /sys/class/infiniband/DEVICE/ports/PORT: `counters` and `hw_counters`,
// sorted by name; what the device does not have, or does not give, is absent. At most 512.
std::vector<PortCounter> readPortCounters(const std::filesystem::path& port_directory);

}  // namespace pingloom::rdma::verbs
