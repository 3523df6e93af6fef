// `plan` of a probe: what is read, the groups that follow, and what it covers and costs.
#include "pinglist/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "pinglist/cost.h"
#include "pinglist/coverage.h"
#include "pinglist/members.h"
#include "plan/sampling.h"

namespace pingloom::pinglist::sampling_test {
namespace {

using testing::HasSubstr;

// Racks r0, r1, ... of hosts h0, h1, ... with the addresses 10.0.0.0, 10.0.0.1, ...
std::string hostsOf(int count, int in_rack) {
  std::string text = "version: 1\nhosts:\n";
  for (int i = 0; i < count; ++i) {
    text += "  h" + std::to_string(i) + ": { address: 10." + std::to_string(i >> 16) + "." +
            std::to_string(i >> 8 & 0xff) + "." + std::to_string(i & 0xff) + ", rack: r" +
            std::to_string(i / in_rack) + " }\n";
  }
  return text;
}

std::string meshOf(int count, int in_rack, const std::string& keys) {
  std::string text = hostsOf(count, in_rack) + "probes:\n  - name: fabric\n    mesh: [";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "h" : ", h") + std::to_string(i);
  return text + "]\n    protocol: rdma\n    " + keys + "\n";
}

Pinglist parsed(const std::string& text) {
  auto made = parse(text, "p.yaml");
  EXPECT_TRUE(made) << made.error().text();
  return made ? std::move(*made) : Pinglist();
}

std::string reasonOf(const std::string& text) {
  const auto made = parse(text, "p.yaml");
  return made ? "it was accepted" : made.error().text();
}

TEST(Sampling, IsReadAndFormsGroups) {
  const Pinglist list =
      parsed(meshOf(6, 2, "plan: { full: rack, across: { targets: 2, paths: 8, cover: 4 } }"));
  ASSERT_EQ(list.plan.probes.size(), 1U);
  const plan::ProbeSpec& spec = list.plan.probes[0];
  EXPECT_EQ(spec.across, 2U);
  EXPECT_EQ(spec.paths, 8U);
  ASSERT_EQ(spec.groups.size(), 3U);
  for (const std::string& name : spec.groups) EXPECT_EQ(list.plan.list(name).size(), 2U);
  EXPECT_EQ(list.samplings.at("fabric").label, "rack");
  EXPECT_EQ(list.samplings.at("fabric").cover, 4U);
  EXPECT_EQ(list.samplings.at("fabric").unlabeled, 0U);
  EXPECT_TRUE(list.warnings.empty());
  const auto targets = plan::targetsOf(list.plan, spec);
  EXPECT_TRUE(targets->together(0, 1));
  EXPECT_FALSE(targets->together(1, 2));
}

TEST(Sampling, HasOnePathAndCoverThreeByDefault) {
  const Pinglist list = parsed(meshOf(6, 2, "plan: { full: rack, across: { targets: 2 } }"));
  EXPECT_EQ(list.plan.probes[0].paths, 1U);
  EXPECT_EQ(list.samplings.at("fabric").cover, 3U);
}

TEST(Sampling, WithoutItIsTheFullMesh) {
  const Pinglist list = parsed(meshOf(6, 2, "payload: 64"));
  EXPECT_EQ(list.plan.probes[0].across, 0U);
  EXPECT_EQ(costOf(list).pairs, 30U);
}

TEST(Sampling, OfMembersWithoutTheLabelWarns) {
  std::string text = meshOf(6, 2, "plan: { full: rack, across: { targets: 2 } }");
  text.replace(text.find("mesh: ["), 7, "mesh: [10.9.9.9, ");
  const Pinglist list = parsed(text);
  EXPECT_EQ(list.samplings.at("fabric").unlabeled, 1U);
  ASSERT_EQ(list.warnings.size(), 1U);
  EXPECT_THAT(list.warnings[0], HasSubstr("1 members have no label 'rack'"));
}

TEST(Sampling, SaysWhereItIsWrongAndWhatToWrite) {
  const auto reason = [](const std::string& keys) { return reasonOf(meshOf(6, 2, keys)); };
  EXPECT_THAT(reason("plan: full"),
              HasSubstr("p.yaml:13:11: probes.plan: expected a map such as { full: rack"));
  EXPECT_THAT(reason("plan: { full: rack }"), HasSubstr("'plan' has no 'across'"));
  EXPECT_THAT(reason("plan: { across: { targets: 2 } }"), HasSubstr("'plan' has no 'full'"));
  EXPECT_THAT(reason("plan: { full: rak, across: { targets: 2 } }"),
              HasSubstr("no host of 'hosts:' has the label 'rak' (did you mean 'rack'?)"));
  EXPECT_THAT(reason("plan: { full: rack, across: { paths: 2 } }"),
              HasSubstr("'across' has no 'targets'"));
  EXPECT_THAT(reason("plan: { full: rack, across: { targets: 0 } }"), HasSubstr("targets: "));
  EXPECT_THAT(reason("plan: { full: rack, across: { targets: 129 } }"), HasSubstr("targets: "));
  EXPECT_THAT(reason("plan: { full: rack, across: { targets: 2, paths: 129 } }"),
              HasSubstr("paths: "));
  EXPECT_THAT(reason("plan: { full: rack, across: { targets: 2, cover: 65 } }"),
              HasSubstr("cover: "));
  EXPECT_THAT(reason("plan: { full: rack, across: { target: 2 } }"),
              HasSubstr("unknown key 'target' (did you mean 'targets'?)"));
  EXPECT_THAT(reason("plan: { full: rack, across: 3 }"), HasSubstr("expected { targets: N"));
  EXPECT_THAT(reason("paths: 4\n    plan: { full: rack, across: { targets: 2 } }"),
              HasSubstr("a probe with 'plan' has 'paths' in its 'across'"));
  EXPECT_THAT(reasonOf(hostsOf(4, 2) +
                       "probes:\n  - { name: d, protocol: udp, from: [h0], to: [h1], plan: { full: "
                       "rack, across: { targets: 2 } } }\n"),
              HasSubstr("'plan' is for a mesh"));
  EXPECT_THAT(reasonOf(hostsOf(4, 2) +
                       "probes:\n  - { name: d, protocol: udp, mesh: [h0, h1], plan: { full: rack, "
                       "across: { targets: 2, paths: 2 } } }\n"),
              HasSubstr("'paths' is for rdma only"));
}

TEST(Sampling, IsBounded) {
  EXPECT_THAT(
      reasonOf(hostsOf(2, 2) +
               "probes:\n  - { name: a, protocol: udp, mesh: ['10.[0-15].[0-255].[0-255]'], "
               "plan: { full: rack, across: { targets: 5 } } }\n"),
      HasSubstr("1048576 members with 5 targets each are more than 4194304 pairs"));
}

TEST(Sampling, FollowsRegisteredAgents) {
  const Pinglist list = parsed(hostsOf(6, 2) +
                               "probes:\n  - { name: fabric, protocol: udp, mesh: [registered], "
                               "plan: { full: rack, across: { targets: 2 } } }\n");
  std::vector<Member> members;
  for (int i = 0; i < 6; ++i) {
    const auto address = *IpAddress::parse("10.0.0." + std::to_string(i));
    members.push_back({"agent-" + std::to_string(i), {address}, {}, i + 1, 0});
  }
  members.push_back({"stranger", {*IpAddress::parse("10.0.9.9")}, {}, 9, 0});
  const Expansion made = expand(list, members, 100);
  const plan::ProbeSpec& spec = made.pinglist.plan.probes.at(0);
  EXPECT_EQ(spec.groups.size(), 3U);
  EXPECT_EQ(made.pinglist.samplings.at("fabric").unlabeled, 1U);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_THAT(made.notes[0], HasSubstr("no label 'rack'"));
  EXPECT_EQ(made.pinglist.plan.lists.size(), 4U);
}

TEST(Coverage, OfASmallMesh) {
  const Pinglist list =
      parsed(meshOf(12, 3, "plan: { full: rack, across: { targets: 3, paths: 2, cover: 2 } }"));
  const auto covered = coverageOf(list);
  ASSERT_EQ(covered.size(), 1U);
  EXPECT_EQ(covered[0].groups, 4U);
  EXPECT_EQ(covered[0].pairs_within, 24U);
  EXPECT_EQ(covered[0].pairs_across, 36U);
  EXPECT_EQ(covered[0].group_pairs, 12U);
  EXPECT_EQ(covered[0].least_of_group, 18U);
  EXPECT_EQ(covered[0].fewest_sources, 3U);
  EXPECT_EQ(covered[0].most_sources, 3U);
  const Cost cost = costOf(list);
  EXPECT_EQ(cost.pairs, 60U);
  EXPECT_DOUBLE_EQ(cost.busiest_pings_per_second, 2 + 3 * 2);
  EXPECT_DOUBLE_EQ(cost.rows_per_second, (24 + 36 * 3) / 10.0);
}

TEST(Coverage, OfLinksIsABoundOfTheirProbability) {
  EXPECT_EQ(linksCovered(2, 3), 0U);
  EXPECT_EQ(linksCovered(3, 3), 1U);
  // Two links, n flows: 2 P(Bin(n, 1/2) < 1) = 2^(1-n) <= 0.01 from n = 8 on.
  EXPECT_EQ(linksCovered(7, 1), 1U);
  EXPECT_EQ(linksCovered(8, 1), 2U);
  EXPECT_GT(linksCovered(2048, 3), 100U);
  EXPECT_LT(linksCovered(2048, 3), 300U);
}

TEST(Coverage, SaysWhenTheTopologyHasMoreLinksThanItCovers) {
  const Pinglist list =
      parsed(meshOf(12, 3, "plan: { full: rack, across: { targets: 3, paths: 2, cover: 2 } }"));
  const Coverage covered = coverageOf(list).at(0);
  ASSERT_EQ(covered.links_covered, linksCovered(18, 2));
  Topology topology;
  const auto hasWarning = [&] {
    const auto lines = describe(covered, topology);
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("too few for links") != std::string::npos;
    });
  };
  EXPECT_THAT(describe(covered, topology).back(), HasSubstr("no 'topology' is named"));
  EXPECT_THAT(describe(covered, topology),
              testing::Contains(HasSubstr("adds pairs for links that fewer than 2 flows cross")));
  for (std::uint32_t i = 0; i < covered.links_covered; ++i) {
    topology.switches.push_back({"spine" + std::to_string(i), 2, {}});
  }
  EXPECT_FALSE(hasWarning());
  EXPECT_THAT(describe(covered, topology).back(), HasSubstr("pingloom fabric"));
  topology.switches.push_back({"leaf", 1, {}});
  EXPECT_FALSE(hasWarning()) << "links to hosts are no links to the fabric";
  topology.switches.push_back({"spine", 2, {}});
  EXPECT_TRUE(hasWarning());
}

// The plan of docs/pinglist.md for 10,000 NICs, 64 in a rack.
TEST(Coverage, OfTenThousandMembersStaysWithinTheRowsOfOneController) {
  const std::string text =
      meshOf(10'000, 64,
             "window: 30s\n    plan: { full: rack, across: { targets: 32, paths: 8, cover: 3 } }");
  const Pinglist list = parsed(text);
  const auto started = std::chrono::steady_clock::now();
  const Cost cost = costOf(list);
  const auto covered = coverageOf(list);
  const auto took = std::chrono::steady_clock::now() - started;
  EXPECT_EQ(covered[0].members, 10'000U);
  EXPECT_EQ(covered[0].pairs_across, 320'000U);
  // The last rack has 16 members only, so that few flows leave it to each other rack.
  EXPECT_GE(covered[0].group_pairs_crossed, covered[0].group_pairs * 999 / 1000);
  EXPECT_GE(covered[0].fewest_sources, 31U);
  EXPECT_LE(covered[0].most_sources, 33U);
  EXPECT_LE(cost.rows_per_second, 200'000);
  EXPECT_LE(cost.busiest_pings_per_second, 63 + 32 * 8);
  EXPECT_LT(took, std::chrono::seconds(20)) << "the bound is loose, because a machine may be busy";
  EXPECT_EQ(describe(covered[0], list.topology).size(), 6U);
}

}  // namespace
}  // namespace pingloom::pinglist::sampling_test
