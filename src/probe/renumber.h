// Maps the targets of a probe to their numbers after a plan change.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace pingloom::probe {

constexpr std::uint32_t kGone = 0xffffffff;

// Returns for each destination of `before` its number in `after`, or kGone. REQUIRES: both lists
// are ascending. Any thread.
std::vector<std::uint32_t> renumber(const plan::AddressList& before,
                                    const plan::AddressList& after);

}  // namespace pingloom::probe
