// The published localisers that ours is compared with, from their papers' descriptions. Each
// returns the components that it blames.
#pragma once

#include <vector>

#include "scenario.h"

namespace pingloom::bench {

using Blamed = std::vector<localise::ComponentId>;

// 007 (Arzani et al., NSDI 2018): each lossy flow gives its h links 1/h of a vote. The link with
// the most is blamed while it has 1 % of all votes, and its flows are taken out.
Blamed votes007(const Window& window);
// SCORE (Kompella et al., NSDI 2005), deTector's PLL (Peng et al., ATC 2017): greedy set cover
// among links of which at least 2 % of the flows lose, while they cover at least 5 lossy flows.
Blamed setCover(const Window& window);
// NetBouncer (Tan et al., NSDI 2019): regularised least squares over links by coordinate descent,
// lambda = 1; blamed are links that lose more than 2 %.
Blamed netBouncer(const Window& window);
// Flock (Harsh et al., CoNEXT 2023): greedy maximum likelihood with fixed rates of good (2e-4) and
// bad (3e-3) paths, prior -12 nats.
Blamed flock(const Window& window);
// R-Pingmesh (Liu et al., SIGCOMM 2024): hosts that lose 10 % inside their ToR first, or the ToR if
// most of its hosts do; without their probes, the fabric link with the most lost probes.
Blamed votesRPingmesh(const Window& window, const Topology& topology);

}  // namespace pingloom::bench
