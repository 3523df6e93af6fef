// The properties of a host's RDMA devices, for `pingloom devices`, for /metrics and for choosing
// one. Plain values that do not depend on libibverbs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdma/device.h"
#include "rdma/gid.h"

namespace pingloom::rdma {

enum class GidType : std::uint8_t { kInfiniband, kRoceV1, kRoceV2 };
constexpr std::string_view name(GidType type) {
  return type == GidType::kInfiniband ? "IB" : type == GidType::kRoceV1 ? "RoCE v1" : "RoCE v2";
}
constexpr std::string_view name(LinkLayer layer) {
  return layer == LinkLayer::kEthernet ? "Ethernet" : "InfiniBand";
}

struct GidDetails {
  std::uint32_t index = 0;  // index in the port's table, which may have holes
  Gid gid;
  GidType type = GidType::kInfiniband;
  std::string interface;       // the network interface behind it; "" if there is none
  std::uint32_t link_mtu = 0;  // that interface's MTU in bytes; 0 if unknown
};

// A counter of a port, under the name that node_exporter gives it after "node_infiniband_".
struct PortCounter {
  std::string name;  // "port_data_received_bytes_total"
  std::uint64_t value = 0;
};

struct PortDetails {
  std::uint8_t number = 1;
  bool active = false;
  std::string state;  // as libibverbs names it: "PORT_ACTIVE", "PORT_DOWN"
  LinkLayer link_layer = LinkLayer::kEthernet;
  std::uint32_t active_mtu = 0;  // in bytes of payload
  std::uint32_t max_mtu = 0;
  std::uint64_t bits_per_second = 0;  // 0 if the port does not report it
  std::uint16_t lid = 0;
  std::vector<GidDetails> gids;  // ordered by index, without unused entries
};

struct DeviceDetails {
  std::string name;
  std::string problem;  // why it could not be opened; if set, the fields below are unknown
  std::string firmware;
  std::string sysfs_path;  // "/sys/class/infiniband/mlx5_0"
  std::uint32_t vendor_id = 0;
  std::uint32_t part_id = 0;
  std::uint64_t timestamp_mask = 0;  // completion_timestamp_mask; 0 means no hardware timestamps
  std::uint64_t core_clock_khz = 0;  // hca_core_clock
  std::vector<PortDetails> ports;

  bool hasHardwareTimestamps() const { return timestamp_mask != 0 && core_clock_khz != 0; }
};

}  // namespace pingloom::rdma
