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

}  // namespace pingloom::controller
