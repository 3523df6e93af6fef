// Measures the limit that the machine and ZeroMQ set. A DEALER sends frames of the same size to a
// ROUTER in this process over loopback TCP, which answers each with a small frame and does nothing
// else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/error.h"

namespace pingloom::bench {

// Gives frames per second.
Result<double> bareZeromq(std::size_t frame_bytes, std::uint64_t frames);

}  // namespace pingloom::bench
