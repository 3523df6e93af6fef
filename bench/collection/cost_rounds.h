// Measures what a host's processes use while something reads them at an interval.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cost_sides.h"

namespace pingloom::bench {

using HostCpu = std::function<Nanos()>;

// Reads an agent's pages by a collector's reader over a soft device.
double costOfPages(const std::string& agent, const Load& load, const HostCpu& cpu);
// Scrapes the endpoints of these URLs one after the other. Lines that begin with `prefix` are
// series.
double costOfScrapes(const std::vector<std::string>& urls, const std::string& prefix,
                     const Load& load, const HostCpu& cpu);

}  // namespace pingloom::bench
