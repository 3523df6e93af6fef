// Parser of the kernel's counters of IP, ICMP, TCP and UDP. Pure; what host_parsers.h says about
// lines holds here too.
#pragma once

#include <string_view>

#include "agent/system/readings.h"

namespace pingloom::agent::system {

// Reads /proc/net/snmp or /proc/net/netstat, where a line of names precedes a line of values.
void parseNetstat(std::string_view text, Readings& readings);
// Reads /proc/net/snmp6, which has a counter a line. A kernel without IPv6 has no such file.
void parseNetstatOfIpv6(std::string_view text, Readings& readings);

}  // namespace pingloom::agent::system
