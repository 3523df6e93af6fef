#include "plan/link_cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "plan/plan_codec.h"
#include "unit/plan/simulated_fabric.h"

namespace pingloom::plan::link_cover_test {
namespace {

using test::SimulatedFabric;
using test::SimulatedProbe;

std::size_t few(const CoverAnswer& answer) {
  return static_cast<std::size_t>(
      std::count_if(answer.links.begin(), answer.links.end(),
                    [](const LinkCover& link) { return link.state != CoverState::kCovered; }));
}

std::size_t count(const CoverAnswer& answer, CoverState state) {
  return static_cast<std::size_t>(
      std::count_if(answer.links.begin(), answer.links.end(),
                    [&](const LinkCover& link) { return link.state == state; }));
}

// Chooses and traces until nothing more is chosen. Returns the rounds.
int settle(SimulatedProbe& probe) {
  for (int round = 0;; ++round) {
    const CoverAnswer answer = probe.look();
    EXPECT_LT(round, 64) << "it does not end";
    if (answer.pairs.empty() || round == 64) return round;
    probe.add(answer);
  }
}

struct Sparse {
  const char* name;
  SimulatedFabric fabric;
  std::uint32_t targets;
  std::uint32_t paths;
  std::uint32_t cover;
  bool mostly_covered;
};

// The figures of docs/paths.md.
TEST(LinkCover, RisesToWhatIsWantedInSparsePlans) {
  const Sparse plans[] = {{"fat_tree_8_targets", {8}, 8, 1, 3, true},
                          {"fat_tree_4_targets_2_paths", {8}, 4, 2, 3, true},
                          {"fat_tree_16_targets_cover_8", {8}, 16, 1, 8, false},
                          {"leaf_spine_2_targets_4_paths", {0, 32, 16, 8}, 2, 4, 3, true}};
  for (const Sparse& each : plans) {
    SCOPED_TRACE(each.name);
    SimulatedProbe probe(each.fabric, each.targets, each.paths);
    probe.cover = each.cover;
    const CoverAnswer before = probe.look();
    const std::size_t flows = probe.flows;
    EXPECT_GT(few(before), 0U) << "it is not sparse";
    const int rounds = settle(probe);
    const CoverAnswer after = probe.look();
    // The bounds of pairs may leave some links.
    EXPECT_EQ(few(after), count(after, CoverState::kAtLimit));
    EXPECT_LE(few(after), each.mostly_covered ? after.links.size() / 50 : 0);
    for (const LinkCover& link : after.links) {
      EXPECT_EQ(link.flows >= each.cover, link.state == CoverState::kCovered);
    }
    std::map<IpAddress, std::uint32_t> used;
    for (const auto& [source, destination] : probe.spec().extra) ++used[source];
    std::uint32_t most = 0;
    for (const auto& [source, pairs] : used) most = std::max(most, pairs);
    EXPECT_LE(most, std::max(2U, each.targets / 4));
    const std::string name = each.name;
    RecordProperty(name + "_links", static_cast<int>(after.links.size()));
    RecordProperty(name + "_flows", static_cast<int>(flows));
    RecordProperty(name + "_few_before", static_cast<int>(few(before)));
    RecordProperty(name + "_few_after", static_cast<int>(few(after)));
    RecordProperty(name + "_rounds", rounds);
    RecordProperty(name + "_pairs_added", static_cast<int>(probe.spec().extra.size()));
    RecordProperty(name + "_most_of_a_host", static_cast<int>(most));
  }
}

TEST(LinkCover, ChoosesTheSameWhateverTheOrderOfTraces) {
  SimulatedProbe probe({8}, 4, 1);
  probe.look();
  const AddressList& members = probe.plan.list("fabric");
  CoverQuestion question{probe.targets.get(), &members, 4, 1, 3, {}, {}};
  for (std::uint32_t source = 0; source < members.size(); ++source) {
    for (const std::uint32_t to : probe.targets->across(source)) {
      question.flows.push_back({source, to, probe.fabric.path(source, to, 1)});
    }
  }
  const auto pairs = coverLinks(question).pairs;
  ASSERT_FALSE(pairs.empty());
  std::mt19937_64 random(7);
  std::shuffle(question.flows.begin(), question.flows.end(), random);
  EXPECT_EQ(coverLinks(question).pairs, pairs);
}

TEST(LinkCover, ALeavingHostTakesOnlyItsOwnPairsAway) {
  SimulatedProbe probe({8}, 8, 1);
  settle(probe);
  std::set<std::pair<IpAddress, IpAddress>> before;
  const auto collect = [&](std::set<std::pair<IpAddress, IpAddress>>& into) {
    probe.look();
    const AddressList& members = probe.plan.list("fabric");
    for (std::uint32_t source = 0; source < members.size(); ++source) {
      for (const std::uint32_t to : probe.targets->across(source)) {
        into.emplace(members[source], members[to]);
      }
    }
  };
  collect(before);
  const std::size_t extra = probe.spec().extra.size();
  const IpAddress left = SimulatedProbe::address(77);
  probe.here[77] = false;
  probe.listMembers();
  std::erase_if(probe.spec().extra,
                [&](const auto& pair) { return pair.first == left || pair.second == left; });
  settle(probe);
  std::set<std::pair<IpAddress, IpAddress>> after;
  collect(after);
  std::size_t moved = 0;
  for (const auto& pair : before) {
    moved += pair.first != left && pair.second != left && !after.contains(pair) ? 1 : 0;
  }
  EXPECT_LE(moved, before.size() / 50);
  EXPECT_GE(probe.spec().extra.size() + 4, extra) << "the other chosen pairs stay";
  RecordProperty("pairs", static_cast<int>(before.size()));
  RecordProperty("moved", static_cast<int>(moved));
}

TEST(LinkCover, SaysWhichLinksNoPairCanCover) {
  // Each host probes all others already.
  SimulatedProbe probe({0, 2, 8, 2}, 2, 1);
  const CoverAnswer answer = probe.look();
  EXPECT_TRUE(answer.pairs.empty());
  EXPECT_GT(count(answer, CoverState::kNoPair), 0U);
  EXPECT_EQ(count(answer, CoverState::kNoPair), few(answer));
}

TEST(LinkCover, KeepsToItsBounds) {
  SimulatedProbe probe({0, 8, 8, 2}, 1, 1);
  probe.cover = 64;
  settle(probe);
  const CoverAnswer answer = probe.look();
  EXPECT_GT(count(answer, CoverState::kAtLimit), 0U);
  EXPECT_EQ(count(answer, CoverState::kChosen), 0U);
  EXPECT_LE(probe.spec().extra.size(), 2 * probe.fabric.hosts());
}

TEST(LinkCover, TakesNothingFromPathsThatAreNotKnown) {
  const AddressList members = {SimulatedProbe::address(0), SimulatedProbe::address(1)};
  SimulatedProbe probe({0, 2, 2, 2}, 1, 1);
  probe.look();
  const std::uint32_t unknown = TracedFlow::kUnknown;
  CoverQuestion question{probe.targets.get(), &probe.plan.list("fabric"), 1, 1, 3, {}, {}};
  question.flows = {{0, 2, {0, unknown, 1}},
                    {0, 3, {}, false},
                    {1, 2, std::vector<std::uint32_t>(200, unknown)},
                    {1, 3, {0, 2}, false}};
  const CoverAnswer answer = coverLinks(question);
  EXPECT_TRUE(answer.pairs.empty()) << "nobody knows where such a path goes";
  ASSERT_EQ(answer.links.size(), 2U);
  EXPECT_EQ(answer.links[0].flows + answer.links[1].flows, 1U);
}

TEST(ExtraPairs, ArePairsAcrossGroupsAndOfMembersOnly) {
  SimulatedProbe probe({0, 4, 2, 2}, 1, 1);
  probe.look();
  const auto has = [&](std::uint32_t from, std::uint32_t to) {
    return probe.targets->contains(from, to);
  };
  std::uint32_t to = 2;
  while (has(0, to)) ++to;
  const auto at = SimulatedProbe::address;
  probe.spec().extra = {{at(0), at(1)}, {at(0), at(to)}, {at(0), at(99)}, {at(99), at(0)}};
  const auto before = probe.targets;
  probe.look();
  EXPECT_TRUE(has(0, to));
  EXPECT_EQ(probe.targets->across(0).size(), before->across(0).size() + 1);
  for (std::uint32_t host = 1; host < 8; ++host) {
    EXPECT_EQ(probe.targets->across(host).size(), before->across(host).size()) << host;
  }
  const auto work = assignmentsOf(probe.plan, {at(0)});
  EXPECT_TRUE(contains(work.back().destinations, at(to)));
  EXPECT_TRUE(work.back().probe.extra.empty()) << "others' pairs do not concern it";
}

TEST(ExtraPairs, GoToTheAgentsWithThePlan) {
  SimulatedProbe probe({0, 4, 2, 2}, 1, 1);
  const Plan without = probe.plan;
  probe.spec().extra = {{SimulatedProbe::address(0), SimulatedProbe::address(7)},
                        {*IpAddress::parse("fd00::1"), *IpAddress::parse("fd00::2")}};
  EXPECT_NE(hash(without), hash(probe.plan));
  const wire::PlanUpdate update = encode(probe.plan, &without);
  const auto decoded = decode(update, &without);
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->probes, probe.plan.probes);

  for (const std::string& bytes :
       {std::string(7, 'x'), std::string(4, 'x'), std::string(8 * (kMaxExtraPairs + 1), 'x')}) {
    wire::PlanUpdate wrong = update;
    wrong.mutable_probes(0)->set_extra_v4(bytes);
    EXPECT_FALSE(decode(wrong, &without)) << bytes.size();
  }
  wire::PlanUpdate mesh = update;
  mesh.mutable_probes(0)->set_across(0);
  mesh.mutable_probes(0)->clear_groups();
  EXPECT_FALSE(decode(mesh, &without)) << "only a sample has further pairs";
}

}  // namespace
}  // namespace pingloom::plan::link_cover_test
