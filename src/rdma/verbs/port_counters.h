// Reads the counters that a port's driver keeps in sysfs. It needs no libibverbs and opens no
// device.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "rdma/device_details.h"

namespace pingloom::rdma::verbs {

// Tells by its name whether a counter is wanted; others are not read, because every reading asks
// the device. An empty function wants all.
using WantedCounter = std::function<bool(std::string_view name)>;

// Reads `counters` and `hw_counters` of the port directory /sys/class/infiniband/DEVICE/ports/PORT.
// The result is sorted by name and has at most 512 entries; counters that the device lacks or that
// cannot be read are absent.
std::vector<PortCounter> readPortCounters(const std::filesystem::path& port_directory,
                                          const WantedCounter& wanted = {});

}  // namespace pingloom::rdma::verbs
