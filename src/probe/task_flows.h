// What tracers of different transports have in common: the names of flows, and the paths they hand
// on. Pure.
#pragma once

#include <cstdint>

#include "common/traced_path.h"
#include "probe/path_tracer.h"
#include "probe/task_list.h"

namespace pingloom::probe {

// TracedFlow::key of a task's flow to one of its destinations.
std::uint64_t flowKeyOf(const Task& task, const IpAddress& destination);

// The path that a trace of this task has found.
TracedPath tracedPathOf(FinishedTrace&& trace, const Task& task, const IpAddress& source,
                        Nanos traced_utc);

}  // namespace pingloom::probe
