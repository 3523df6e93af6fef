// Differences between devices that libibverbs does not report.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "common/fnv1a.h"
#include "rdma/device_details.h"
#include "rdma/soft/source_port.h"

namespace pingloom::rdma::verbs {

// How a device chooses the UDP source port of a UD message.
enum class PortChoice : std::uint8_t { kUnknown, kFlowLabel, kQueuePair };

struct Quirks {
  std::uint32_t vendor_id = 0;
  std::uint32_t first_part = 0;
  std::uint32_t last_part = 0;
  PortChoice port_choice = PortChoice::kUnknown;
};

// mlx5's parts (ConnectX-4 and later, BlueField) begin at 0x1011. Kernel Soft-RoCE keeps one port
// per queue pair.
constexpr std::array kQuirks = {Quirks{0x02C9, 0x1011, 0xFFFF, PortChoice::kFlowLabel},
                                Quirks{0xFFFFFF, 0, 0, PortChoice::kQueuePair}};

constexpr Quirks quirksOf(const DeviceDetails& device) {
  for (const Quirks& one : kQuirks) {
    if (one.vendor_id == device.vendor_id && device.part_id >= one.first_part &&
        device.part_id <= one.last_part) {
      return one;
    }
  }
  return {};
}

constexpr PortChoice portChoiceOf(const DeviceDetails& device, const GidDetails& gid) {
  return gid.type == GidType::kRoceV2 ? quirksOf(device).port_choice : PortChoice::kUnknown;
}

// The port that Soft-RoCE derives from a queue pair's number: 0xC000 plus the number's 14-bit hash
// (rxe_qp_init_req() and hash_32() in Linux).
constexpr std::uint16_t softRocePortOf(std::uint32_t qpn) {
  constexpr std::uint32_t kGoldenRatio = 0x61C88647;
  return static_cast<std::uint16_t>(0xC000 + ((qpn * kGoldenRatio) >> (32 - 14)));
}

// Returns the label of messages for which nobody has chosen one. mlx5 would choose a port at random
// for label 0, and the path of such a flow could not be traced. The label depends on the address
// only, so a restarted agent's packets take the same paths.
constexpr std::uint32_t ownLabelOf(PortChoice choice, const Gid& gid) {
  if (choice != PortChoice::kFlowLabel) return 0;
  const std::uint32_t hash = fnv1a32(gid.bytes);
  return std::max<std::uint32_t>((hash ^ hash >> 20) & 0xFFFFF, 1);
}

// Returns the source port of a message of this queue pair, or nullopt if it is not known.
constexpr std::optional<std::uint16_t> sourcePortOf(PortChoice choice, std::uint32_t flow_label,
                                                    std::uint32_t qpn) {
  if (choice == PortChoice::kQueuePair) return softRocePortOf(qpn);
  if (choice == PortChoice::kFlowLabel) return soft::sourcePortOf(flow_label);
  return std::nullopt;
}

}  // namespace pingloom::rdma::verbs
