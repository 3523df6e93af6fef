// The physical limit of the UDP transport: a loop that only moves the packets of each
// exchange through two sockets, with the options, ancillary data and timestamps that the transport
// asks for, and looks at nothing. It is one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/error.h"
#include "shared/exchanges.h"

namespace pingloom::bench {

// Does `exchanges`, at most 64 at a time, spread over `targets` loopback addresses. Each has a PONG
// and, with `acks`, an ACK; PING and PONG have two timestamps each.
Result<ExchangeResult> runBareUdpLoop(std::uint64_t exchanges, std::size_t batch,
                                      std::uint32_t targets, bool acks);

}  // namespace pingloom::bench
