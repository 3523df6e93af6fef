// The kernel's counters of protocols, from a recorded text.
#include "agent/system/netstat_parser.h"

#include <gtest/gtest.h>

#include "truncations.h"

namespace pingloom::agent::system::netstat_parser_test {
namespace {

constexpr std::string_view kSnmp =
    "IcmpMsg: InType3 InType11 OutType3 OutType11\n"
    "IcmpMsg: 26257 11 26254 11\n"
    "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
    "CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n"
    "Tcp: 1 200 120000 -1 304050 261892 15783 240864 2 5311477 5283974 17168 0 155708 0\n"
    "Udp: InDatagrams NoPorts InErrors\n"
    "Udp: 4837477 26254 2974689\n"
    "UdpLite: InDatagrams NoPorts InErrors\n"
    "UdpLite: 1 2 3\n";

TEST(NetstatParser, ReadsPairsOfLines) {
  Readings readings;
  parseNetstat(kSnmp, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(readings.all.size(), 8 + 3U);
  EXPECT_EQ(valueOf(readings, "node_netstat_Tcp_ActiveOpens"), 304050);
  EXPECT_EQ(valueOf(readings, "node_netstat_Tcp_RetransSegs"), 17168);
  EXPECT_EQ(valueOf(readings, "node_netstat_Tcp_CurrEstab"), 2);
  EXPECT_EQ(valueOf(readings, "node_netstat_Udp_InDatagrams"), 4837477);
  expectTruncationsAreHarmless(kSnmp, parseNetstat);
  expectNonsenseIsHarmless(kSnmp, parseNetstat);
}

TEST(NetstatParser, ReadsLinesOfIpv6) {
  constexpr std::string_view kSnmp6 =
      "Ip6InReceives                   \t2472\n"
      "Ip6InOctets                     \t17179869184\n"
      "Icmp6InMsgs                     \t12\n"
      "Icmp6InType134                  \t5\n"
      "Udp6InErrors                    \t0\n"
      "UdpLite6InErrors                \t7\n"
      "Udp6RcvbufErrors                \t3\n";
  Readings readings;
  parseNetstatOfIpv6(kSnmp6, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(readings.all.size(), 4U);
  EXPECT_EQ(valueOf(readings, "node_netstat_Ip6_InOctets"), 17179869184);
  EXPECT_EQ(valueOf(readings, "node_netstat_Icmp6_InMsgs"), 12);
  EXPECT_EQ(valueOf(readings, "node_netstat_Udp6_RcvbufErrors"), 3);
  expectTruncationsAreHarmless(kSnmp6, parseNetstatOfIpv6);
  expectNonsenseIsHarmless(kSnmp6, parseNetstatOfIpv6);
  parseNetstatOfIpv6("Ip6OutOctets -1\nIp6InOctets\n", readings);
  EXPECT_EQ(readings.malformed, 2U);
}

TEST(NetstatParser, LeavesOutWhatIsWrong) {
  Readings readings;
  parseNetstat("Tcp: InSegs OutSegs InErrs\nTcp: -1 x\nUdp: InErrors\nTcp: 7\n\n\nUdp: 5\n",
               readings);
  EXPECT_EQ(readings.all.size(), 0U);
  EXPECT_EQ(readings.malformed, 3U);
}

}  // namespace
}  // namespace pingloom::agent::system::netstat_parser_test
