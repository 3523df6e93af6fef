// Plan <-> PlanUpdate (control.proto): complete, or the difference to a plan the other side holds.
// Any thread.
#pragma once

#include "common/error.h"
#include "control.pb.h"
#include "plan/plan.h"

namespace pingloom::plan {

// The update that makes `target` of `base` (nullptr: of nothing).
wire::PlanUpdate encode(const Plan& target, const Plan* base);

// Bounds on what an agent accepts; a pinglist beyond them is refused by the controller already.
constexpr std::size_t kMaxProbes = 1024;
constexpr std::size_t kMaxListAddresses = 1 << 20;

// The bytes come from outside (network or the kept plan on disk): bounded and checked, and the
// result has to have the hash the update names. `base` may be nullptr when the update is complete.
Result<Plan> decode(const wire::PlanUpdate& update, const Plan* base);

bool validProbeName(std::string_view name);

}  // namespace pingloom::plan
