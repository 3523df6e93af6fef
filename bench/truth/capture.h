// Collects the kernel's timestamps of probe packets on one interface, by a packet socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/error.h"

namespace pingloom::truth {

// Until `stop` is readable; then prints a line "in|out TYPE ID NONCE NANOSECONDS" for each PING and
// PONG to or from UDP `port`. The packets wait in the kernel meanwhile, so that nothing is woken up
// while it is measured. With more than one tap the others only cost time: all see the same
// timestamp, and the packet leaves after the last.
Status capture(const std::string& interface, std::uint16_t port, std::size_t taps, int stop);

}  // namespace pingloom::truth
