#include "pinglist/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::pinglist::cost_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Pinglist parsed(const std::string& text) {
  auto made = parse(text, "p.yaml");
  EXPECT_TRUE(made) << made.error().text();
  return made ? std::move(*made) : Pinglist();
}

TEST(Cost, OfAMesh) {
  const Cost cost =
      costOf(parsed("version: 1\nprobes:\n  - { name: m, protocol: udp, mesh: ['10.0.0.[1-8]'], "
                    "interval: 100ms }\n"));
  EXPECT_EQ(cost.probes, 1U);
  EXPECT_EQ(cost.hosts, 8U);
  EXPECT_EQ(cost.pairs, 56U);
  EXPECT_DOUBLE_EQ(cost.busiest_pings_per_second, 70);
  EXPECT_EQ(cost.busiest_host, "10.0.0.1");
  EXPECT_DOUBLE_EQ(cost.pings_per_second, 560);
  EXPECT_DOUBLE_EQ(cost.rows_per_second, 5.6);
  EXPECT_DOUBLE_EQ(cost.history_bytes_per_day,
                   5.6 * 7200 * kHistoryBytesPerRow + 56.0 * 22 * 60 * kHistoryBytesPerMinute);
}

TEST(Cost, PairsNeverCrossFamiliesAndLeaveSelfOutUnlessAsked) {
  // 2 + 3 addresses: 2*1 + 3*2 pairs, with self 2*2 + 3*3.
  const std::string members = "[10.0.0.1, 10.0.0.2, 'fd00::1', 'fd00::2', 'fd00::3']";
  const std::string head = "version: 1\nprobes:\n  - { name: m, protocol: udp, mesh: ";
  EXPECT_EQ(costOf(parsed(head + members + " }\n")).pairs, 8U);
  EXPECT_EQ(costOf(parsed(head + members + ", self: true }\n")).pairs, 13U);
}

TEST(Cost, DirectedProbesCostTheirSources) {
  const Cost cost =
      costOf(parsed("version: 1\nprobes:\n"
                    "  - { name: d, protocol: tcp, from: ['10.0.0.[1-3]'], to: [10.0.0.1, "
                    "10.0.9.1], interval: 500ms }\n"));
  EXPECT_EQ(cost.pairs, 5U) << "10.0.0.1 does not probe itself";
  EXPECT_EQ(cost.hosts, 4U) << "a destination is a host too";
  EXPECT_DOUBLE_EQ(cost.busiest_pings_per_second, 4);
  EXPECT_EQ(cost.busiest_host, "10.0.0.2");
}

TEST(Cost, OfAHostIsThatOfAllItsAddresses) {
  const Cost cost =
      costOf(parsed("version: 1\n"
                    "hosts:\n  two: { addresses: { rail0: 10.0.0.2, rail1: 10.1.0.2 } }\n"
                    "probes:\n"
                    "  - { name: rail0, protocol: udp, mesh: ['10.0.0.[1-4]'] }\n"
                    "  - { name: rail1, protocol: udp, mesh: ['10.1.0.[1-4]'] }\n"));
  EXPECT_EQ(cost.hosts, 7U);
  EXPECT_EQ(cost.busiest_host, "two");
  EXPECT_DOUBLE_EQ(cost.busiest_pings_per_second, 6);
}

TEST(Cost, EveryPathIsPingedAndHasARowBesideTheirMerge) {
  const Cost one = costOf(
      parsed("version: 1\nprobes:\n  - { name: m, protocol: rdma, mesh: ['10.0.0.[1-8]'] }\n"));
  EXPECT_EQ(one.pairs, 56U);
  EXPECT_DOUBLE_EQ(one.pings_per_second, 56);
  EXPECT_DOUBLE_EQ(one.rows_per_second, 5.6);
  const Cost four = costOf(parsed(
      "version: 1\nprobes:\n  - { name: m, protocol: rdma, mesh: ['10.0.0.[1-8]'], paths: 4 }\n"));
  EXPECT_EQ(four.pairs, 56U);
  EXPECT_DOUBLE_EQ(four.pings_per_second, 4 * 56);
  EXPECT_DOUBLE_EQ(four.busiest_pings_per_second, 4 * 7);
  EXPECT_DOUBLE_EQ(four.rows_per_second, 5 * 5.6);
}

TEST(Cost, OfNothing) {
  const Cost cost = costOf(parsed("version: 1\nprobes: []\n"));
  EXPECT_EQ(cost.hosts, 0U);
  EXPECT_EQ(cost.pairs, 0U);
  EXPECT_THAT(beyondLimits(cost, Limits()), IsEmpty());
}

TEST(Cost, OfTheLargestMeshDoesNotOverflow) {
  const Cost cost =
      costOf(parsed("version: 1\nprobes:\n  - { name: m, protocol: udp, mesh: "
                    "['10.[0-15].[0-255].[0-255]'] }\n"));
  EXPECT_EQ(cost.pairs, ((1ULL << 20) - 1) << 20);
}

TEST(Limits, EachIsNamedWithTheFigure) {
  const Cost cost = costOf(
      parsed("version: 1\nprobes:\n"
             "  - { name: m, protocol: udp, mesh: ['10.0.[0-39].[1-250]'], interval: 100ms }\n"));
  EXPECT_EQ(cost.hosts, 10'000U);
  EXPECT_THAT(
      beyondLimits(cost, Limits()),
      ElementsAre(HasSubstr("host 10.0.0.1 sends 99990 pings/s, more than "
                            "the limit pings_per_second_per_host = 20000"),
                  HasSubstr("9999000 rows/s, more than the limit rows_per_second = 100000"),
                  HasSubstr("a day, more than the limit history_bytes_per_day = 50.00 GiB")));
  Limits wide;
  wide.max_pings_per_second_per_host = 99'990;
  wide.max_rows_per_second = 9'999'000;
  wide.max_history_bytes_per_day = 1ULL << 50;
  EXPECT_THAT(beyondLimits(cost, wide), IsEmpty()) << "reaching a limit is not exceeding it";
}

}  // namespace
}  // namespace pingloom::pinglist::cost_test
