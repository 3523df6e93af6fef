// One connect as the kernel sees it. No state of its own; any thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom::probe::tcp {

enum class ConnectStage : std::uint8_t {
  kConnecting,
  kConnected,
  kRefused,      // the host answered: nobody listens there
  kUnreachable,  // the network answered, or this host has no way there
  kTimedOut,     // the kernel gave up
  kExhausted,    // not started: this host has no port or descriptor left at the moment
};

struct ConnectStart {
  ConnectStage stage = ConnectStage::kExhausted;
  UniqueFd socket;  // valid while connecting
};

// Non-blocking. The socket sends RST when it is closed, so that no port stays in TIME_WAIT.
ConnectStart startConnect(const IpAddress& source, const SocketAddress& target,
                          std::uint32_t traffic_class);

struct ConnectState {
  ConnectStage stage = ConnectStage::kConnecting;
  Nanos kernel_rtt = 0;        // SYN to SYN-ACK; 0 where the kernel did not measure it
  Nanos since_reply = 0;       // how long ago the last segment came, to a few milliseconds
  bool retransmitted = false;  // the SYN had to be sent again
};

ConnectState inspectConnect(int socket);

}  // namespace pingloom::probe::tcp
