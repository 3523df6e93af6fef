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

struct ConnectOptions {
  std::uint32_t traffic_class = 0;
  std::uint16_t source_port = 0;  // 0: the kernel chooses one
  // IPv4: the TTL; 0: the system's default. With it, ICMP messages about the connect are in the
  // socket's error queue.
  std::uint8_t hop_limit = 0;
};

// Does not block. The socket sends RST when it is closed, so that no port stays in TIME_WAIT.
ConnectStart startConnect(const IpAddress& source, const SocketAddress& target,
                          const ConnectOptions& options);

// The port that a connect left from; 0 if it is not known.
std::uint16_t sourcePortOf(int socket);

struct ConnectState {
  ConnectStage stage = ConnectStage::kConnecting;
  Nanos kernel_rtt = 0;        // SYN to SYN-ACK; 0 if the kernel did not measure it
  Nanos since_reply = 0;       // time since the last segment, within a few milliseconds
  bool retransmitted = false;  // the SYN had to be sent again
};

ConnectState inspectConnect(int socket);

}  // namespace pingloom::probe::tcp
