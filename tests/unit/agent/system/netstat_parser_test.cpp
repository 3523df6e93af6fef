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

TEST(NetstatParser, LeavesOutWhatIsWrong) {
  Readings readings;
  parseNetstat("Tcp: InSegs OutSegs InErrs\nTcp: -1 x\nUdp: InErrors\nTcp: 7\n\n\nUdp: 5\n",
               readings);
  EXPECT_EQ(readings.all.size(), 0U);
  EXPECT_EQ(readings.malformed, 3U);
}

}  // namespace
}  // namespace pingloom::agent::system::netstat_parser_test
