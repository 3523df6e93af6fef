// Converts a ping request into an assignment for the probers. Plain values.
#pragma once

#include <memory>

#include "cli/ping_session.h"
#include "plan/plan.h"

namespace pingloom::cli {

// Returns one target with a window that is longer than any run, because the caller takes each
// result out of the window instead of waiting for it to close.
std::shared_ptr<const plan::Assignment> assignmentOf(const PingRequest& request);

}  // namespace pingloom::cli
