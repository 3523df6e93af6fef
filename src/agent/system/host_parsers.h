// Parsers of /proc's files about the host as a whole. They are pure functions over a file's text.
// Lines that they do not know are ignored. Known lines with wrong values, and a last line that does
// not end, add no reading and are counted in Readings::malformed.
#pragma once

#include <cstddef>
#include <string_view>

#include "agent/system/readings.h"

namespace pingloom::agent::system {

// A host with more processors than this has only the sums over all of them, labelled cpu="all", so
// that it has at most 1,024 series of them.
constexpr std::size_t kMaxProcessors = 128;

// /proc/stat counts in ticks of this length (USER_HZ) on x86-64 and arm64.
constexpr unsigned kTicksPerSecond = 100;

void parseStat(std::string_view text, Readings& readings);    // /proc/stat
void parseLoad(std::string_view text, Readings& readings);    // /proc/loadavg
void parseMemory(std::string_view text, Readings& readings);  // /proc/meminfo
void parseVmstat(std::string_view text, Readings& readings);  // /proc/vmstat
// /proc/pressure/NAME. `name` is cpu, memory, io or irq.
void parsePressure(std::string_view name, std::string_view text, Readings& readings);

}  // namespace pingloom::agent::system
