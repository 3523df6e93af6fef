#include "cores.h"

#include <sched.h>

#include <cstddef>

namespace pingloom::bench {
namespace {

cpu_set_t coresNow() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  return cores;
}

}  // namespace

bool pinTo(int count) {
  static const cpu_set_t at_first = coresNow();
  if (CPU_COUNT(&at_first) < count) return false;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (std::size_t i = 0; CPU_COUNT(&wanted) < count; ++i) {
    if (CPU_ISSET(i, &at_first)) CPU_SET(i, &wanted);
  }
  return sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}

}  // namespace pingloom::bench
