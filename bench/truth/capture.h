// Collects the kernel's timestamps of probe packets on one interface, by a packet socket.
#pragma once

#include <cstdint>
#include <string>

#include "common/error.h"

namespace pingloom::truth {

// Captures until `stop` is readable, and then prints a line "in|out TYPE ID NONCE NANOSECONDS" for
// each PING and PONG to or from UDP `port`. The packets wait in the kernel meanwhile, so that
// nothing is woken up while it is measured. With `departures` it sees those too, which delays them.
Status capture(const std::string& interface, std::uint16_t port, bool departures, int stop);

}  // namespace pingloom::truth
