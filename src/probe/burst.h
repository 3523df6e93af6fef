// A burst as a transport takes it: one more task, whose targets are the one destination, once for
// each ping. So every ping goes the way of all others and has counts of its own; they are read
// (verdictOf) and never handed over as a window.
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
  std::uint32_t path = 0;  // as a task's
  Nanos gap = 0;           // between two pings
};

// `of` is the probe's assignment that `destination` is a target of. REQUIRES: the bounds of
// common/burst.h.
std::shared_ptr<const Burst> makeBurst(const plan::Assignment& of, const IpAddress& destination,
                                       std::uint32_t path, std::uint32_t count, Nanos gap);

// Of one ping: what its counts say; nullopt: there is no verdict yet.
std::optional<BurstPing> verdictOf(const PairWindow& counts, std::uint32_t sequence);

}  // namespace pingloom::probe
