// The physical limit of probes over the soft device: a loop that only moves the packets of each
// exchange between two sockets, of the size that RoCE makes them, with the options and
// timestamps of a soft device's sockets, and looks at nothing. It is one thread.
#pragma once

#include "common/error.h"
#include "shared/exchanges.h"

namespace pingloom::bench {

// The two sides' loopback addresses, which nothing else uses.
constexpr std::uint32_t kProberAddress = 0x7F2A0001;     // 127.42.0.1
constexpr std::uint32_t kResponderAddress = 0x7F2A0002;  // 127.42.0.2

// With `raw`, what arrives is read from raw sockets, as a soft device with CAP_NET_RAW does. Each
// exchange has a PONG and, with `acks`, an ACK; each packet has two timestamps.
Result<ExchangeResult> runBareRoceLoop(const ExchangeTask& task, bool raw, bool acks = true);

}  // namespace pingloom::bench
