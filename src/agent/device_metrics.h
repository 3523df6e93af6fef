// Writes the counters of the host's RDMA ports for /metrics. node_exporter's node_infiniband_NAME
// is pingloom_infiniband_NAME{device,port} here.
#pragma once

#include <filesystem>

#include "common/metrics_text.h"

namespace pingloom::agent {

// Reads sysfs; counters that a device lacks are absent. Bound: 64 ports. Any thread.
void writeDeviceCounters(MetricsText& out,
                         const std::filesystem::path& devices = "/sys/class/infiniband");

}  // namespace pingloom::agent
