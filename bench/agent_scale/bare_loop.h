// The physical limit the agent is compared with: a loop that only moves the three packets of each
// exchange through two sockets, with the same options, cmsgs and timestamps the transport asks for,
// and looks at nothing. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

struct BareResult {
  std::uint64_t exchanges = 0;
  std::uint64_t timestamps = 0;  // delivered with them; 4 to an exchange
  Nanos cpu = 0;
};

// `exchanges` of them, `batch` (at most 64) at a time, spread over `targets` loopback addresses.
Result<BareResult> runBareLoop(std::uint64_t exchanges, std::size_t batch, std::uint32_t targets);

}  // namespace pingloom::bench
