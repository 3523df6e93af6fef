// Compares collectors with one and with two readers at one address, which read two hosts.
#pragma once

#include "shared/figures.h"

namespace pingloom::bench {

// Adds one run to the figures: one reader on one core with the hosts, one reader on two cores, and
// two readers on two cores. Returns false if this process may not use two cores. It leaves the
// process on one core.
bool addReaders(Figures& figures, double seconds);
// Adds two readers on two cores that read full pages for so long without a break, and how fast they
// were in their slowest second. Returns and leaves the same.
bool addSustained(Figures& figures, double seconds);

}  // namespace pingloom::bench
