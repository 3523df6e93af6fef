// Formats what `pingloom devices` prints. Pure functions of plain values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rdma/device_details.h"

namespace pingloom::cli {

using CountersOf =
    std::function<std::vector<rdma::PortCounter>(const rdma::DeviceDetails&, std::uint8_t port)>;

// Lists every device, its ports, their GIDs and, if requested, their counters.
std::string textOf(const std::vector<rdma::DeviceDetails>& devices, const CountersOf& counters);
std::string jsonOf(const std::vector<rdma::DeviceDetails>& devices, const CountersOf& counters);

// "10.0.0.1: rxe1/1, GID index 1, RoCE v2, MTU 1024, software timestamps, ..."
std::string textOf(const std::string& address, const rdma::DeviceInfo& chosen);

}  // namespace pingloom::cli
