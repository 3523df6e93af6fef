// Words a finding: "gpu-3's network side is very slow: network 2.4 ms, 800 x the mesh's median, in
// 46 of 46 pairs of rdma". Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "controller/verdict/finding.h"

namespace pingloom::controller {

// The figure that accuses a culprit, over its bad pairs.
struct FigureSummary {
  std::uint64_t value = 0;  // median, or the share of all pings
  std::uint64_t base = 0;   // the mesh's median; 0: unknown
};

std::string sentenceOf(const Finding& finding, const FigureSummary& summary);

// How a link, a cable or a switch fails.
struct FabricSummary {
  double rate = 0;              // part of the packets of the flows that it hits
  double share = 1;             // part of the flows through it that it hits
  std::uint32_t witnesses = 0;  // hosts that saw it
  std::uint64_t delay_ns = 0;   // if it delays packets
};

// "the link spine1 -> leaf0 loses 10 % of the packets, in 47 of 56 flows of rdma", or
// "... delays packets by 310 us, ...".
std::string fabricSentenceOf(const Finding& finding, const FabricSummary& summary);

}  // namespace pingloom::controller
