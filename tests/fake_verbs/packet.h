// What fake devices send each other: UD datagrams in UDP datagrams over loopback. A queue pair's
// number is its UDP port. (Reliable connections need no packets: rc.cpp.) Host byte order: all run
// on one machine.
#pragma once

#include <cstdint>

#include "config.h"

namespace fake {

struct PacketHeader {
  static constexpr std::uint64_t kMagic = 0x7AFE'7E5B'5EAF'0001;
  std::uint64_t magic = kMagic;
  std::int64_t due = 0;  // monotonic time of its arrival, ns
  GidBytes source_gid{};
  GidBytes destination_gid{};
  std::uint32_t source_qpn = 0;
  std::uint32_t q_key = 0;
  std::uint32_t flow_label = 0;
  std::uint16_t source_lid = 0;
  std::uint16_t destination_lid = 0;
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
  bool global = false;
  bool ethernet = false;
};

constexpr std::size_t kMaxPayload = 16384;

}  // namespace fake
