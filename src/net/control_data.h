// Ancillary data of one outgoing datagram: its traffic class, its hop limit, the address it leaves
// from, whether the kernel is to say when it left, and whether it is to leave in segments. Plain
// values; one thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/address.h"

namespace pingloom::net {

struct ControlData {
  // All five options of an IPv6 datagram fit.
  static constexpr std::size_t kRoom = 144;
  alignas(cmsghdr) std::array<std::uint8_t, kRoom> bytes{};
  std::size_t used = 0;
};

struct SendOptions {
  bool timestamp = false;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;                    // IPv4: the TTL; 0: the system's default
  std::optional<IpAddress> from = std::nullopt;  // where the socket is bound to all addresses
  // UDP GSO: the kernel makes datagrams of so many bytes (the last may be shorter), at most 64, the
  // k-th with the IPv4 ID of the first plus k. 0: one datagram.
  std::uint16_t segment_bytes = 0;
};

// `v6`: the socket's family.
ControlData makeControl(const SendOptions& options, bool v6);

}  // namespace pingloom::net
