// Each of these measures what it costs a host that its series are read at an interval: the
// processor time of the processes that have the series and serve them, in microseconds a second.
// The reader is this process, and its own time does not count. They end this process if the series
// are not read.
#pragma once

#include "common/time.h"

namespace pingloom::bench {

constexpr int kSeries = 8;  // of each cgroup or application

struct Load {
  int count = 0;  // of cgroups or applications
  Nanos interval = kSecond;
  int rounds = 0;  // that are measured
};

// The agent's reader reads the files of cgroups at the interval, and shows them on metric pages.
double cgroupsOnPages(const Load& load);
// The same reader reads the same files whenever its HTTP endpoint of prometheus-cpp is scraped.
double cgroupsScraped(const Load& load);
// Each application has metric pages of its own.
double applicationsOnPages(const Load& load);
// Each application has an HTTP endpoint of prometheus-cpp.
double applicationsScraped(const Load& load);

}  // namespace pingloom::bench
