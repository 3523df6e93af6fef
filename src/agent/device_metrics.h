// Writes the counters of the host's RDMA ports and network interfaces for /metrics. node_exporter's
// node_infiniband_NAME is pingloom_infiniband_NAME{device,port} here, and its node_network_NAME is
// pingloom_network_NAME{device}.
#pragma once

#include <filesystem>

#include "common/metrics_text.h"
#include "common/nic_counter.h"

namespace pingloom::agent {

// Reads sysfs; counters that a device lacks are absent. Bound: 64 ports. Any thread.
void writeDeviceCounters(MetricsText& out,
                         const std::filesystem::path& devices = "/sys/class/infiniband");

// Writes the watched counters of network interfaces; those of ethtool are
// pingloom_ethtool_NAME_total{device}.
void writeInterfaceCounters(MetricsText& out, const NicPorts& ports);

}  // namespace pingloom::agent
