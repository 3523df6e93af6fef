// The counters of the host's RDMA ports for /metrics: what node_exporter calls
// node_infiniband_NAME is pingloom_infiniband_NAME{device,port} here.
#pragma once

#include <filesystem>

#include "common/metrics_text.h"

namespace pingloom::agent {

// Reads sysfs; what a device does not have is absent. Bound: 64 ports. Any thread.
void writeDeviceCounters(MetricsText& out,
                         const std::filesystem::path& devices = "/sys/class/infiniband");

}  // namespace pingloom::agent
