// Converts plans from and to PlanUpdate (control.proto), either complete or as the difference to a
// plan that the other side holds. Any thread.
#pragma once

#include "common/error.h"
#include "control.pb.h"
#include "plan/plan.h"

namespace pingloom::plan {

// Returns the update from `base` to `target`; a `base` of nullptr yields the complete plan.
wire::PlanUpdate encode(const Plan& target, const Plan* base);

// Bounds on what an agent accepts. The controller refuses a pinglist that exceeds them.
constexpr std::size_t kMaxProbes = 1024;
constexpr std::size_t kMaxListAddresses = 1 << 20;

// The bytes come from outside (network, or the kept plan on disk). They are bounded and checked,
// and the result must have the hash in the update. `base` may be nullptr if the update is complete.
Result<Plan> decode(const wire::PlanUpdate& update, const Plan* base);

bool validProbeName(std::string_view name);

}  // namespace pingloom::plan
