#include "controller/verdict/cover_watch.h"

#include <gmock/gmock.h>

#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::cover_watch_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Four racks of four hosts, and four spines. Each host probes two others across, and all flows take
// the first spine, but for those of the first rack.
class CoverWatchTest : public testing::Test {
 protected:
  CoverWatchTest() {
    plan();
    traceAll();
  }

  static IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x0A010001 + number); }
  static IpAddress router(std::uint32_t number) { return IpAddress::fromV4(0x0A020000 + number); }

  void plan(const std::vector<CoverPairs>& chosen = {}) {
    std::string text = "version: 1\nhosts:\n";
    std::string members;
    for (std::uint32_t i = 0; i < 16; ++i) {
      const std::string name = "h" + std::to_string(i);
      text += "  " + name + ": { address: " + host(i).text() + ", rack: r" + std::to_string(i / 4) +
              " }\n";
      members += (i == 0 ? "" : ", ") + name;
    }
    text += "probes:\n  - { name: m, protocol: rdma, mesh: [" + members +
            "], plan: { full: rack, across: { targets: 2, cover: 3 } } }\n";
    auto parsed = pinglist::parse(text, "pinglist.yaml");
    ASSERT_TRUE(parsed) << parsed.error().text();
    for (const CoverPairs& each : chosen) parsed->plan.probes[0].extra = each.pairs;
    plan_ =
        makeGridPlan(std::make_shared<const pinglist::Pinglist>(std::move(*parsed)), ++generation_);
  }

  void traceAll() {
    paths_.clear();
    const ProbeGrid& probe = plan_->probes[0];
    for (std::uint32_t from = 0; from < 16; ++from) {
      for (const std::uint32_t to : probe.targets->across(from)) {
        auto known = std::make_shared<KnownPath>();
        TracedPath& path = known->path;
        path.probe = "m";
        path.source = host(from);
        path.destination = host(to);
        path.end = PathEnd::kReached;
        const std::uint32_t spine = from / 4 == 0 ? from : 0;
        for (const std::uint32_t each : {from / 4, 10 + spine, to / 4}) {
          path.hops.push_back({router(each), 1000});
        }
        paths_.push_back(std::move(known));
      }
    }
    SwitchNames names;
    for (std::uint32_t i = 0; i < 4; ++i) {
      names[router(i)] = {"leaf" + std::to_string(i), 1};
      names[router(10 + i)] = {"spine" + std::to_string(i), 2};
    }
    map_ = mapFabric(paths_, ++version_, names);
  }

  CoverWatch::Seen look() { return watch_.look(plan_, *map_, paths_, now_); }

  CoverWatch watch_;
  std::shared_ptr<const GridPlan> plan_;
  KnownPaths paths_;
  std::shared_ptr<const FabricMap> map_;
  std::uint64_t generation_ = 0;
  std::uint64_t version_ = 0;
  Nanos now_ = kHour;
};

TEST_F(CoverWatchTest, SaysWhatIsCoveredAndChoosesWhenAllIsTraced) {
  const auto first = look();
  ASSERT_NE(first.cover, nullptr);
  ASSERT_THAT(first.cover->probes, SizeIs(1));
  const FabricCover::Probe& seen = first.cover->probes[0];
  EXPECT_EQ(seen.name, "m");
  EXPECT_EQ(seen.cover, 3U);
  EXPECT_EQ(seen.flows, 32U);
  EXPECT_EQ(seen.links, seen.covered + seen.few.size());
  ASSERT_FALSE(seen.few.empty());
  EXPECT_LE(seen.few.front().flows, seen.few.back().flows);
  EXPECT_THAT(first.chosen, IsEmpty()) << "more traces may come";

  now_ += CoverWatch::kSettle - 1;
  EXPECT_THAT(look().chosen, IsEmpty());
  now_ += 1;
  const auto settled = look();
  ASSERT_THAT(settled.chosen, SizeIs(1));
  EXPECT_EQ(settled.chosen[0].probe, "m");
  EXPECT_FALSE(settled.chosen[0].pairs.empty());
  now_ += kHour;
  EXPECT_THAT(look().chosen, IsEmpty()) << "it waits for what was chosen";
}

TEST_F(CoverWatchTest, WaitsForTheTracesOfWhatItHasChosen) {
  look();
  now_ += CoverWatch::kSettle;
  const auto chosen = look().chosen;
  ASSERT_THAT(chosen, SizeIs(1));
  plan(chosen);
  now_ += CoverWatch::kPause;
  EXPECT_THAT(look().chosen, IsEmpty());
  traceAll();
  now_ += CoverWatch::kSettle - 1;
  const auto traced = look();
  EXPECT_THAT(traced.chosen, IsEmpty());
  ASSERT_NE(traced.cover, nullptr);
  EXPECT_EQ(traced.cover->probes[0].pairs, chosen[0].pairs.size());
  now_ += CoverWatch::kSettle;
  for (const CoverPairs& again : look().chosen) {
    for (const auto& pair : again.pairs)
      EXPECT_THAT(chosen[0].pairs, testing::Not(testing::Contains(pair)));
  }
}

TEST_F(CoverWatchTest, ChoosesAgainWhenFlowsHaveMoved) {
  look();
  now_ += CoverWatch::kSettle;
  EXPECT_THAT(look().chosen, SizeIs(1));
  ++version_;
  traceAll();
  now_ += CoverWatch::kAgain - 1;
  EXPECT_THAT(look().chosen, IsEmpty());
  now_ += 1;
  EXPECT_THAT(look().chosen, SizeIs(1)) << "nothing was added meanwhile";
}

TEST_F(CoverWatchTest, IgnoresFlowsThatThePlanDoesNotHave) {
  auto stray = std::make_shared<KnownPath>(*paths_.front());
  stray->path.source = host(0);
  stray->path.hops = {{router(0), 1}, {router(99), 1}, {router(3), 1}};
  std::uint32_t to = 4;
  while (plan_->probes[0].targets->contains(0, to)) ++to;
  stray->path.destination = host(to);
  const std::size_t before = look().cover->probes[0].flows;
  paths_.push_back(stray);
  map_ = mapFabric(paths_, ++version_, {});
  now_ += CoverWatch::kPause;
  EXPECT_EQ(look().cover->probes[0].flows, before);
}

TEST_F(CoverWatchTest, SaysNothingWithoutASample) {
  plan_ = makeGridPlan(
      test::pinglistOf("  - { name: m, protocol: rdma, mesh: ['10.1.0.[1-8]'] }\n"), 9);
  now_ += kHour;
  const auto seen = look();
  EXPECT_EQ(seen.cover, nullptr);
  EXPECT_THAT(seen.chosen, IsEmpty());
}

}  // namespace
}  // namespace pingloom::controller::cover_watch_test
