// A burst in the form that a transport takes: one more task. Its targets are the one destination,
// repeated for each ping, so that every ping takes the usual way and has its own counts. These are
// read by verdictOf() and never become a closed window.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/burst.h"
#include "plan/plan.h"
#include "probe/window.h"

namespace pingloom::probe {

struct Burst {
  std::shared_ptr<const plan::Assignment> assignment;
  std::uint32_t path = 0;  // has the meaning of Task::path
  Nanos gap = 0;           // between two pings
};

// `of` is the probe's assignment, and `destination` is one of its targets. REQUIRES: `count` and
// `gap` are within the bounds of common/burst.h.
std::shared_ptr<const Burst> makeBurst(const plan::Assignment& of, const IpAddress& destination,
                                       std::uint32_t path, std::uint32_t count, Nanos gap);

// Returns the verdict on one ping from its counts, or nullopt while there is none.
std::optional<BurstPing> verdictOf(const PairWindow& counts, std::uint32_t sequence);

}  // namespace pingloom::probe
