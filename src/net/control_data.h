// Ancillary data of one outgoing datagram: its traffic class, the address it leaves from, and
// whether the kernel is to say when it left. Plain values; one thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/address.h"

namespace pingloom::net {

struct ControlData {
  static constexpr std::size_t kRoom = 96;  // of all three, for IPv6
  alignas(cmsghdr) std::array<std::uint8_t, kRoom> bytes{};
  std::size_t used = 0;
};

struct SendOptions {
  bool timestamp = false;
  std::uint8_t traffic_class = 0;
  std::optional<IpAddress> from;  // where the socket is bound to all addresses
};

// `v6`: the socket's family.
ControlData makeControl(const SendOptions& options, bool v6);

}  // namespace pingloom::net
