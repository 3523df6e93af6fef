// The CPU time of all running processes of one program, as /proc tells.
#pragma once

#include <string_view>

#include "common/time.h"

namespace pingloom::bench {

// `name` as in /proc/PID/comm, at most 15 characters. The time of processes that have ended is not
// in it.
Nanos cpuOfProgram(std::string_view name);

}  // namespace pingloom::bench
