// One run of a prober process against a responder process over loopback.
#pragma once

#include <cstdint>

#include "common/distribution.h"
#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

constexpr std::uint32_t kRdmaHosts = 100;

struct Load {
  bool rdma = false;  // on the soft device: kRdmaHosts targets, each in as many probes as it takes
  std::uint32_t targets = 10'000;
  Nanos interval = kSecond;
  Nanos window = 10 * kSecond;
  Nanos duration = 30 * kSecond;
  std::uint16_t port = 29'710;  // the prober's; the responder has the next one
};

// Measured after a warm-up, over load.duration. Trivially copyable: it comes through a pipe.
struct ProberFigures {
  std::uint64_t wanted = 0;
  std::uint64_t sent = 0;
  Summary lateness;
  // Of all windows, warm-up included.
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
  std::uint64_t prober_resident_bytes = 0;  // the most it had
  std::uint64_t responder_resident_bytes = 0;
};

Result<RunFigures> runAgents(const Load& load);

}  // namespace pingloom::bench
