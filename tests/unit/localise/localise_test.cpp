#include "localise/localise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "leaf_spine.h"

namespace pingloom::localise {
namespace {

using Path = LeafSpine::Path;

LeafSpine::Loss onLink(NodeId from, NodeId to, double rate) {
  return [=](const Path& path, std::uint32_t) {
    return LeafSpine::crosses(path, from, to) ? rate : 0.0;
  };
}

const Component& componentOf(const LeafSpine& at, const Verdict& verdict) {
  return at.fabric.components()[verdict.component];
}

// Whether the verdict's set has this component.
bool setHas(const LeafSpine& at, const Verdict& verdict, Kind kind, NodeId from, NodeId to) {
  return std::any_of(verdict.alternatives.begin(), verdict.alternatives.end(), [&](auto id) {
    const Component& it = at.fabric.components()[id];
    return it.kind == kind && it.from == from && it.to == to;
  });
}

TEST(Localise, AccusesNobodyWhereNothingIsLost) {
  const LeafSpine at([](const Path&, std::uint32_t) { return 0.0; });
  const Outcome outcome = localise(at.fabric, at.evidence);
  EXPECT_TRUE(outcome.verdicts.empty());
  EXPECT_EQ(outcome.refused, 0U);
}

TEST(Localise, NamesTheDirectionOfALink) {
  const LeafSpine at(onLink(21, 12, 0.1));
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  const Verdict& it = verdicts[0];
  EXPECT_EQ(it.kind, Kind::kLink);
  EXPECT_EQ(at.fabric.name(it.component), "21 -> 12");
  EXPECT_EQ(it.alternatives, std::vector{it.component});
  EXPECT_NEAR(it.rate, 0.1, 0.01);
  EXPECT_LE(it.rate_low, 0.1);
  EXPECT_GE(it.rate_high, 0.1);
  EXPECT_EQ(it.share, 1);
  EXPECT_GT(it.lead, 100);
  ASSERT_TRUE(it.rival);
  EXPECT_FALSE(at.fabric.components()[*it.rival].samePart(componentOf(at, it)));
  EXPECT_EQ(it.through, it.explained);
  // The two hosts behind the leaf receive over the link, and the other six send over it; both are
  // at the beginning of one of the observed directions.
  EXPECT_EQ(it.witnesses, 6U);
}

TEST(Localise, TellsACableFromItsDirections) {
  const LeafSpine at([](const Path& path, std::uint32_t) {
    return LeafSpine::crosses(path, 21, 12) || LeafSpine::crosses(path, 12, 21) ? 0.3 : 0.0;
  });
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].kind, Kind::kCable);
  EXPECT_EQ(at.fabric.name(verdicts[0].component), "12 - 21");
}

TEST(Localise, TellsASwitchFromItsLinks) {
  const LeafSpine at([](const Path& path, std::uint32_t) {
    return std::find(path.begin(), path.end(), 22U) != path.end() ? 0.02 : 0.0;
  });
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].kind, Kind::kSwitch);
  EXPECT_EQ(componentOf(at, verdicts[0]).from, 22U);
}

TEST(Localise, NamesAHost) {
  const LeafSpine at([](const Path& path, std::uint32_t) {
    return path.front() == 5 || path.back() == 5 ? 0.5 : 0.0;
  });
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].kind, Kind::kHost);
  EXPECT_EQ(componentOf(at, verdicts[0]).from, 5U);
}

TEST(Localise, TakesALittleLossAtOneHostForNoise) {
  const LeafSpine at([](const Path& path, std::uint32_t flow) {
    return path.back() == 5 && flow % 60 == 0 ? 0.01 : 0.0;
  });
  EXPECT_TRUE(localise(at.fabric, at.evidence).verdicts.empty());
}

TEST(Localise, FindsTheShareThatABlackHoleSwallows) {
  const LeafSpine at([](const Path& path, std::uint32_t flow) {
    return LeafSpine::crosses(path, 10, 20) && flow % 5 == 0 ? 1.0 : 0.0;
  });
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(at.fabric.name(verdicts[0].component), "10 -> 20");
  EXPECT_GT(verdicts[0].rate, 0.95);
  EXPECT_LT(verdicts[0].share, 0.4);
  EXPECT_LT(verdicts[0].explained, verdicts[0].through);
}

TEST(Localise, SaysWhatRoundTripsCannotTellApart) {
  const LeafSpine at = LeafSpine::roundTrips(onLink(21, 12, 0.1));
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_TRUE(setHas(at, verdicts[0], Kind::kLink, 21, 12));
  EXPECT_TRUE(setHas(at, verdicts[0], Kind::kLink, 12, 21));
  EXPECT_TRUE(setHas(at, verdicts[0], Kind::kCable, 12, 21));
}

TEST(Localise, FindsSeveralCulprits) {
  const auto link = onLink(21, 12, 0.1);
  const LeafSpine at([&](const Path& path, std::uint32_t flow) {
    const bool dead = std::find(path.begin(), path.end(), 23U) != path.end();
    return dead ? 1.0 : std::max(link(path, flow), path.back() == 1 ? 0.03 : 0.0);
  });
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(at.fabric.name(verdicts[0].component), "23");
  EXPECT_EQ(at.fabric.name(verdicts[1].component), "10 -> 1");
  EXPECT_EQ(at.fabric.name(verdicts[2].component), "21 -> 12");
}

TEST(Localise, BearsPathsThatAreOutOfDate) {
  const auto stale = [](Path path, std::uint32_t flow) {
    if (path.size() == 5 && flow % 10 == 3) path[2] = 20 + (path[2] - 20 + 1) % 4;
    return path;
  };
  const LeafSpine at(onLink(21, 12, 1), stale);
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(at.fabric.name(verdicts[0].component), "21 -> 12");
}

TEST(Localise, KnowsNothingOfLinksBesideASilentSwitch) {
  const auto silent = [](Path path, std::uint32_t) {
    for (NodeId& node : path) {
      if (node == 21) node = kUnknownNode;
    }
    return path;
  };
  const LeafSpine at(onLink(21, 12, 0.5), silent);
  for (const Verdict& it : localise(at.fabric, at.evidence).verdicts) {
    EXPECT_NE(componentOf(at, it).from, 21U);
    EXPECT_NE(componentOf(at, it).to, 21U);
  }
}

TEST(Localise, CountsFlowsAndNotTheirDirections) {
  LeafSpine at = LeafSpine(onLink(21, 12, 1));
  const auto copies = at.evidence;
  at.evidence.insert(at.evidence.end(), copies.begin(), copies.end());
  const auto verdicts = localise(at.fabric, at.evidence).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  const auto once = LeafSpine(onLink(21, 12, 1));
  EXPECT_EQ(verdicts[0].through, localise(once.fabric, once.evidence).verdicts[0].through);
}

// One host says that it misses the answers of all others. Their paths begin at as many hosts, but
// only one tells of it.
TEST(Localise, CountsTheHostsThatTellAndNotThePathsSources) {
  LeafSpine at(onLink(20, 10, 1));
  const auto one = [&] { return localise(at.fabric, at.evidence).verdicts.at(0); };
  EXPECT_GT(one().witnesses, 1U);
  for (Observation& it : at.evidence) it.witness = 3;
  EXPECT_EQ(one().witnesses, 1U);
}

TEST(Localise, RefusesWhatCannotBe) {
  LeafSpine at(onLink(21, 12, 0.1));
  at.evidence.push_back({9000, 0, 10, 11});
  at.evidence.push_back({9001, 0, kMaxSent + 1, 0});
  at.evidence.push_back({9002, static_cast<PathId>(at.fabric.paths()), 10, 0});
  const Outcome outcome = localise(at.fabric, at.evidence);
  EXPECT_EQ(outcome.refused, 3U);
  EXPECT_EQ(outcome.verdicts.size(), 1U);
}

TEST(Localise, EstimatesTheLossOfHealthyPaths) {
  const LeafSpine at([](const Path&, std::uint32_t flow) { return flow % 50 == 0 ? 0.01 : 0.0; });
  const Outcome outcome = localise(at.fabric, at.evidence);
  EXPECT_TRUE(outcome.verdicts.empty());
  // Some of it is taken for noise of hosts.
  EXPECT_GT(outcome.background, 5e-5);
  EXPECT_LT(outcome.background, 2.5e-4);
}

TEST(Localise, RaisesDelaysAboveTheUsualShare) {
  // 2 % of the samples are above a flow's baseline anyway, and 30 % of those over a slow switch.
  const LeafSpine at([](const Path& path, std::uint32_t) {
    return std::find(path.begin(), path.end(), 22U) != path.end() ? 0.3 : 0.02;
  });
  const auto verdicts = localise(at.fabric, at.evidence, delaySettings()).verdicts;
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(at.fabric.name(verdicts[0].component), "22");
}

}  // namespace
}  // namespace pingloom::localise
