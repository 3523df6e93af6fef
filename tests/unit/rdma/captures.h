// The packets of tests/data/rxe, captured between two kernel Soft-RoCE devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pingloom::rdma {

struct CapturedPacket {
  std::string name;              // "rxe-ud-send.pcap #1"
  std::vector<std::uint8_t> ip;  // from the IP header on
};

// An empty list if a file is missing or not what a little-endian Ethernet pcap is.
const std::vector<CapturedPacket>& capturedPackets();  // IPv4, 91 of them
const std::vector<CapturedPacket>&
capturedIpv6Packets();  // UD SEND of 61 bytes, so with padding; 6

}  // namespace pingloom::rdma
