// What the fake host has. Read from the file that PINGLOOM_FAKE_VERBS names, one thing a line:
//
//   device mlx5_0 clock_khz=156250 mask_bits=41 offset=99 delay_us=20    # attributes in any order
//   port 1 link=ethernet state=active mtu=1024
//   gid 3 10.0.0.1 v2
//
// A port belongs to the device above it, a GID to the port above it. All attributes are in the
// structs below, with what they are when they are not given.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fake {

using GidBytes = std::array<std::uint8_t, 16>;

struct GidConfig {
  std::uint32_t index = 0;
  GidBytes gid{};
  std::uint32_t type = IBV_GID_TYPE_ROCE_V2;  // v1, v2 or ib
};

struct PortConfig {
  std::uint8_t number = 1;
  bool ethernet = true;  // link=ethernet, link=infiniband
  bool active = true;    // state=active, state=down
  std::uint32_t mtu = 1024;
  std::uint16_t lid = 0;
  std::vector<GidConfig> gids;
};

struct DeviceConfig {
  std::string name;
  std::uint64_t clock_khz = 0;  // how fast it runs
  std::uint64_t said_khz = 0;   // hca_core_clock; 0: clock_khz
  unsigned mask_bits = 0;       // of completion_timestamp_mask; 0: no timestamps
  std::uint64_t offset = 0;     // ticks that the counter is ahead
  std::uint64_t delay_us = 0;   // on the way of every packet that it sends
  std::uint32_t vendor = 0x02C9;
  std::uint32_t part = 0x1017;
  unsigned rd_atom = 16;         // max_qp_rd_atom, max_qp_init_rd_atom
  int open_errno = 0;            // ibv_open_device fails with it
  int memory_errno = 0;          // ibv_reg_mr fails with it
  bool timestamp_queues = true;  // timestamp_queues=no: no ibv_create_cq_ex all the same
  bool timestamp_pairs = true;   // timestamp_pairs=no: no queue pair on such a queue
  std::string sysfs;             // ibdev_path
  std::vector<PortConfig> ports;

  std::uint64_t mask() const {
    return mask_bits == 0 ? 0 : mask_bits >= 64 ? ~0ULL : (1ULL << mask_bits) - 1;
  }
};

// An error in the file ends the process, with a line to stderr: a test is not to go on with another
// host than it wrote down.
std::vector<DeviceConfig> parseConfig(const std::string& text);
// "10.0.0.1" or "fe80::1".
GidBytes parseAddress(const std::string& text);

}  // namespace fake
