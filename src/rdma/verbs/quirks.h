// Differences between devices that libibverbs does not report.
#pragma once

#include <array>
#include <cstdint>

#include "rdma/device_details.h"

namespace pingloom::rdma::verbs {

struct Quirks {
  std::uint32_t vendor_id = 0;
  std::uint32_t first_part = 0;
  std::uint32_t last_part = 0;
  // whether a UD message's flow label determines its UDP source port
  bool label_is_source_port = false;
};

// mlx5's parts (ConnectX-4 and later, BlueField) begin at 0x1011. Kernel Soft-RoCE keeps one source
// port per queue pair.
constexpr std::array kQuirks = {Quirks{0x02C9, 0x1011, 0xFFFF, true}};

constexpr Quirks quirksOf(const DeviceDetails& device) {
  for (const Quirks& one : kQuirks) {
    if (one.vendor_id == device.vendor_id && device.part_id >= one.first_part &&
        device.part_id <= one.last_part) {
      return one;
    }
  }
  return {};
}

}  // namespace pingloom::rdma::verbs
