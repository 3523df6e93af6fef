// A ping request as the probers take it. Plain values.
#pragma once

#include <memory>

#include "cli/ping_session.h"
#include "plan/plan.h"

namespace pingloom::cli {

// One target in one window that no run outlives: its results are taken out one by one instead.
std::shared_ptr<const plan::Assignment> assignmentOf(const PingRequest& request);

}  // namespace pingloom::cli
