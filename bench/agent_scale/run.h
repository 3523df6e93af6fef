// Runs a prober process against a responder process over loopback.
#pragma once

#include <cstdint>

#include "common/distribution.h"
#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

constexpr std::uint32_t kRdmaHosts = 100;

struct Load {
  // Over the soft device, to kRdmaHosts targets, each of which is in as many probes as it takes.
  bool rdma = false;
  std::uint32_t targets = 10'000;
  Nanos interval = kSecond;
  Nanos window = 10 * kSecond;
  Nanos duration = 30 * kSecond;
  std::uint16_t port = 29'710;  // the prober's; the responder's is the next one
};

// Measured after a warm-up, over load.duration. It is trivially copyable because a pipe carries it.
struct ProberFigures {
  std::uint64_t wanted = 0;
  std::uint64_t sent = 0;
  Summary lateness;
  // Sums of all windows, those of the warm-up included.
  std::uint64_t counted_sent = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t ack_lost = 0;
  std::uint64_t anomalous = 0;
  std::uint64_t network_p50 = 0;
  std::uint64_t windows = 0;
};
struct RunFigures {
  ProberFigures prober;
  Nanos prober_cpu = 0;
  Nanos responder_cpu = 0;
  std::uint64_t prober_resident_bytes = 0;  // its maximum
  std::uint64_t responder_resident_bytes = 0;
};

Result<RunFigures> runAgents(const Load& load);

}  // namespace pingloom::bench
