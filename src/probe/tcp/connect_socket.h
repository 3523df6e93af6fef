// Starts a connect and asks the kernel about it. Functions without state; any thread.
#pragma once

#include <cstdint>

#include "common/address.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom::probe::tcp {

enum class ConnectStage : std::uint8_t {
  kConnecting,
  kConnected,
  kRefused,      // the target answered that no socket listens there
  kUnreachable,  // the network answered, or this host has no route
  kTimedOut,     // the kernel gave up
  kExhausted,    // not started, because the host has no free port or descriptor
};

struct ConnectStart {
  ConnectStage stage = ConnectStage::kExhausted;
  UniqueFd socket;  // valid while connecting
};

// Does not block. The socket sends RST when it is closed, so that no port stays in TIME_WAIT.
ConnectStart startConnect(const IpAddress& source, const SocketAddress& target,
                          std::uint32_t traffic_class);

struct ConnectState {
  ConnectStage stage = ConnectStage::kConnecting;
  Nanos kernel_rtt = 0;        // SYN to SYN-ACK; 0 if the kernel did not measure it
  Nanos since_reply = 0;       // time since the last segment, within a few milliseconds
  bool retransmitted = false;  // the SYN had to be sent again
};

ConnectState inspectConnect(int socket);

}  // namespace pingloom::probe::tcp
