// Where each target of a probe is found after the plan changed.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace pingloom::probe {

constexpr std::uint32_t kGone = 0xffffffff;

// [i] is the number in `after` of destination i of `before`, or kGone. Both ascending. Any thread.
std::vector<std::uint32_t> renumber(const plan::AddressList& before,
                                    const plan::AddressList& after);

}  // namespace pingloom::probe
