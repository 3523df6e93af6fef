// What another process has used, as /proc tells, and how one is ended.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/time.h"

namespace pingloom::bench {

struct Usage {
  Nanos cpu = 0;  // user and system
  std::uint64_t resident_bytes = 0;
  std::uint64_t max_resident_bytes = 0;
};
// All zero if there is no such process.
Usage usageOf(pid_t pid);

// Asks a child to end (SIGTERM), kills it if it has not ended after ten seconds, and reaps it.
void endChild(pid_t pid);

}  // namespace pingloom::bench
