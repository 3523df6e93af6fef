// A row as the line of JSON that Redis holds and /api/v1/pairs shows; docs/redis-keys.md explains
// its fields. Any thread.
#pragma once

#include <string>

#include "controller/model/board.h"

namespace pingloom::controller {

// Appends the object to `out`. No allocation beyond `out`'s own. `path`: which of several; 0: the
// row of all together. `rolled_up`: it has neither minimum nor mean.
// `baseline`: what the row was judged against; nullptr leaves out its severity and the reasons.
void appendRowJson(const plan::ProbeSpec& probe, const SourceRows& source, const Row& row,
                   PairState state, std::string& out, std::uint32_t path = 0,
                   bool rolled_up = false, Judged judged = {}, const Baseline* baseline = nullptr);

}  // namespace pingloom::controller
