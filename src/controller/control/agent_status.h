// Takes over what a heartbeat says about its agent. The control thread.
#pragma once

#include <vector>

#include "control.pb.h"
#include "controller/control/counter_log.h"
#include "controller/control/registry.h"

namespace pingloom::controller {

// Returns the parts that are refused; what was known of these stays.
std::vector<Refusal> takeStatus(Agent& agent, const wire::Heartbeat& heartbeat,
                                CounterLog& counters, Instant now);

}  // namespace pingloom::controller
