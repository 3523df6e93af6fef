// What receiving a datagram costs: a loop that only receives, and the translator's intake of the
// same datagrams. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "common/error.h"
#include "load.h"

namespace pingloom::bench {

// Sends the load's datagrams to a socket of this thread in groups that its buffer holds, and
// receives each group with UDP GRO and recvmmsg. Returns the CPU time of receiving and of `take` in
// nanoseconds for each datagram. Sending is not counted.
Result<double> receive(const Load& load,
                       const std::function<void(std::span<const std::uint8_t>)>& take);

}  // namespace pingloom::bench
