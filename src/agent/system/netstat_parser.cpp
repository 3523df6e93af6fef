#include "agent/system/netstat_parser.h"

#include <algorithm>
#include <array>

#include "agent/system/fields.h"
#include "agent/system/named_lines.h"

namespace pingloom::agent::system {
namespace {

struct ProtocolCounter {
  std::string_view protocol;  // with its colon, as in the file
  std::string_view name;
  Family family;
};

// These are most of what node_exporter selects for IPv4. It gives them no type, and no `_total`,
// which OpenMetrics requires of counters.
constexpr auto kNetstat = std::to_array<ProtocolCounter>({
    {"Icmp:", "InMsgs", {"node_netstat_Icmp_InMsgs", "ICMP messages received."}},
    {"Icmp:", "InErrors", {"node_netstat_Icmp_InErrors", "ICMP messages received in error."}},
    {"Icmp:", "OutMsgs", {"node_netstat_Icmp_OutMsgs", "ICMP messages sent."}},
    {"IpExt:", "InOctets", {"node_netstat_IpExt_InOctets", "Bytes of IP packets received."}},
    {"IpExt:", "OutOctets", {"node_netstat_IpExt_OutOctets", "Bytes of IP packets sent."}},
    {"Tcp:", "ActiveOpens", {"node_netstat_Tcp_ActiveOpens", "Connections made."}},
    {"Tcp:", "PassiveOpens", {"node_netstat_Tcp_PassiveOpens", "Connections accepted."}},
    {"Tcp:", "CurrEstab", {"node_netstat_Tcp_CurrEstab", "Connections that are established."}},
    {"Tcp:", "InSegs", {"node_netstat_Tcp_InSegs", "Segments received."}},
    {"Tcp:", "OutSegs", {"node_netstat_Tcp_OutSegs", "Segments sent."}},
    {"Tcp:", "RetransSegs", {"node_netstat_Tcp_RetransSegs", "Segments sent again."}},
    {"Tcp:", "InErrs", {"node_netstat_Tcp_InErrs", "Segments received in error."}},
    {"Tcp:", "OutRsts", {"node_netstat_Tcp_OutRsts", "Resets sent."}},
    {"TcpExt:",
     "ListenOverflows",
     {"node_netstat_TcpExt_ListenOverflows", "Connections for which a listener had no room."}},
    {"TcpExt:",
     "ListenDrops",
     {"node_netstat_TcpExt_ListenDrops", "Connections that a listener dropped."}},
    {"TcpExt:",
     "TCPSynRetrans",
     {"node_netstat_TcpExt_TCPSynRetrans", "Connection requests sent again."}},
    {"TcpExt:", "TCPTimeouts", {"node_netstat_TcpExt_TCPTimeouts", "Retransmission timeouts."}},
    {"TcpExt:",
     "TCPRcvQDrop",
     {"node_netstat_TcpExt_TCPRcvQDrop", "Segments dropped because a receive queue was full."}},
    {"Udp:", "InDatagrams", {"node_netstat_Udp_InDatagrams", "Datagrams received."}},
    {"Udp:", "OutDatagrams", {"node_netstat_Udp_OutDatagrams", "Datagrams sent."}},
    {"Udp:", "InErrors", {"node_netstat_Udp_InErrors", "Datagrams received but not delivered."}},
    {"Udp:", "NoPorts", {"node_netstat_Udp_NoPorts", "Datagrams to a port that nobody had."}},
    {"Udp:",
     "RcvbufErrors",
     {"node_netstat_Udp_RcvbufErrors", "Datagrams dropped because a receive buffer was full."}},
    {"Udp:",
     "SndbufErrors",
     {"node_netstat_Udp_SndbufErrors", "Datagrams dropped because a send buffer was full."}},
});

// What node_exporter selects for IPv6.
constexpr auto kIpv6 = std::to_array<Named>({
    {"Ip6InOctets", {"node_netstat_Ip6_InOctets", "Bytes of IPv6 packets received."}},
    {"Ip6OutOctets", {"node_netstat_Ip6_OutOctets", "Bytes of IPv6 packets sent."}},
    {"Icmp6InMsgs", {"node_netstat_Icmp6_InMsgs", "ICMPv6 messages received."}},
    {"Icmp6InErrors", {"node_netstat_Icmp6_InErrors", "ICMPv6 messages received in error."}},
    {"Icmp6OutMsgs", {"node_netstat_Icmp6_OutMsgs", "ICMPv6 messages sent."}},
    {"Udp6InDatagrams", {"node_netstat_Udp6_InDatagrams", "Datagrams received over IPv6."}},
    {"Udp6OutDatagrams", {"node_netstat_Udp6_OutDatagrams", "Datagrams sent over IPv6."}},
    {"Udp6InErrors",
     {"node_netstat_Udp6_InErrors", "Datagrams received over IPv6 but not delivered."}},
    {"Udp6NoPorts",
     {"node_netstat_Udp6_NoPorts", "Datagrams over IPv6 to a port that nobody had."}},
    {"Udp6RcvbufErrors",
     {"node_netstat_Udp6_RcvbufErrors",
      "Datagrams over IPv6 dropped because a receive buffer was full."}},
    {"Udp6SndbufErrors",
     {"node_netstat_Udp6_SndbufErrors",
      "Datagrams over IPv6 dropped because a send buffer was full."}},
});

void addLine(std::string_view protocol, std::string_view names, std::string_view values,
             Readings& readings) {
  for (std::string_view name = takeWord(names); !name.empty(); name = takeWord(names)) {
    const std::string_view word = takeWord(values);
    const auto found = std::find_if(
        kNetstat.begin(), kNetstat.end(),
        [&](const ProtocolCounter& one) { return one.protocol == protocol && one.name == name; });
    if (found != kNetstat.end()) addNumber(&found->family, word, readings);
  }
}

}  // namespace

void parseNetstat(std::string_view text, Readings& readings) {
  std::string_view protocol;  // of the line of names
  std::string_view names;
  const bool whole = forEachLine(text, [&](std::string_view line) {
    const std::string_view first = takeWord(line);
    if (first == protocol && !protocol.empty()) {
      addLine(protocol, names, line, readings);
      protocol = {};
    } else {
      protocol = first;
      names = line;
    }
  });
  if (!whole) ++readings.malformed;
}

void parseNetstatOfIpv6(std::string_view text, Readings& readings) {
  addNamedLines(kIpv6, text, readings);
}

}  // namespace pingloom::agent::system
