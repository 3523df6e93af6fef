// The limit that the machine and ZeroMQ set: frames of the same size from DEALERs to one ROUTER in
// this process over loopback TCP, each answered with a small frame, and nothing done with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pingloom::bench {

// Frames per second.
double bareZeromq(std::size_t frame_bytes, std::uint64_t frames);

}  // namespace pingloom::bench
