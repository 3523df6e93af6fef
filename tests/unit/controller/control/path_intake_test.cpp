#include "controller/control/path_intake.h"

#include <gtest/gtest.h>

#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"
#include "wire/path_codec.h"

namespace pingloom::controller::path_intake_test {
namespace {

using test::ip;

class PathIntakeTest : public testing::Test {
 protected:
  PathIntakeTest() {
    plan_ = makeGridPlan(
        test::pinglistOf("  - { name: fabric, protocol: rdma, mesh: ['10.0.0.[1-3]'], paths: 2 }\n"
                         "  - { name: one, protocol: rdma, mesh: ['10.0.0.[1-3]'] }\n"
                         "  - { name: tcp, protocol: tcp, mesh: ['10.0.0.[1-3]'] }\n"),
        1);
    intake_.setPlan(plan_);
    agent_ =
        *registry_.admit(test::registerOf("a", 1, {"10.0.0.1"}), "route", std::nullopt, now_, "");
  }

  std::optional<std::string> take(const std::string& probe, const std::string& source,
                                  const std::string& destination, std::uint32_t path,
                                  std::initializer_list<std::uint32_t> routers = {},
                                  std::uint16_t connection_from = 0) {
    TracedPath traced;
    traced.probe = probe;
    traced.source = ip(source);
    traced.destination = ip(destination);
    traced.path = path;
    traced.one_connection = connection_from != 0;
    traced.source_port = connection_from;
    traced.end = PathEnd::kReached;
    traced.traced = now_.utc + kHour;  // an agent whose clock is ahead
    for (const std::uint32_t each : routers) {
      traced.hops.push_back({IpAddress::fromV4(0x0A020000 + each), 1000});
    }
    wire::PathReport report;
    wire::encode(traced, *report.add_paths());
    return intake_.take(*agent_, report, now_.utc);
  }

  Instant now_ = {10 * kSecond, 1'790'000'000 * kSecond};
  Registry registry_;
  Board board_;
  std::shared_ptr<const GridPlan> plan_;
  PathIntake intake_{registry_, board_};
  Agent* agent_ = nullptr;
};

TEST_F(PathIntakeTest, PutsAPathOnTheBoard) {
  const auto feed = board_.subscribe([] {});
  (void)feed->take();
  EXPECT_FALSE(take("fabric", "10.0.0.1", "10.0.0.2", 2));
  EXPECT_EQ(intake_.counters().taken, 1U);
  const auto known = board_.paths().ofPair("fabric", ip("10.0.0.1"), ip("10.0.0.2"));
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0]->path.traced, now_.utc);
  const Changes changes = feed->take();
  EXPECT_FALSE(changes.all_paths);
  ASSERT_EQ(changes.paths.size(), 1U);
  EXPECT_EQ(changes.paths[0], known[0]);
}

TEST_F(PathIntakeTest, RefusesThePathsOfOthers) {
  EXPECT_EQ(take("fabric", "10.0.0.2", "10.0.0.1", 1), "path: its source is not the agent's");
  EXPECT_EQ(intake_.counters().refused, 1U);
  EXPECT_EQ(board_.paths().size(), 0U);
}

TEST_F(PathIntakeTest, IgnoresFlowsThatThePlanDoesNotHave) {
  EXPECT_FALSE(take("gone", "10.0.0.1", "10.0.0.2", 1));
  EXPECT_FALSE(take("fabric", "10.0.0.1", "10.0.0.9", 1));
  EXPECT_FALSE(take("fabric", "10.0.0.1", "10.0.0.2", 3));
  EXPECT_FALSE(take("fabric", "10.0.0.1", "10.0.0.2", 0)) << "no flow has this number";
  EXPECT_FALSE(take("one", "10.0.0.1", "10.0.0.2", 1));
  EXPECT_EQ(intake_.counters().ignored, 5U);
  EXPECT_FALSE(take("one", "10.0.0.1", "10.0.0.2", 0));
  EXPECT_EQ(intake_.counters().taken, 1U);
}

TEST_F(PathIntakeTest, TakesThePathOfAConnectionForTcpOnly) {
  EXPECT_FALSE(take("one", "10.0.0.1", "10.0.0.2", 0, {1}, 40'000));
  EXPECT_FALSE(take("tcp", "10.0.0.1", "10.0.0.2", 0, {1}));
  EXPECT_EQ(intake_.counters().ignored, 2U);
  EXPECT_FALSE(take("tcp", "10.0.0.1", "10.0.0.2", 0, {1}, 40'000));
  now_.utc += kMinute;
  EXPECT_FALSE(take("tcp", "10.0.0.1", "10.0.0.2", 0, {2}, 40'001));
  EXPECT_EQ(intake_.counters().taken, 2U);
  EXPECT_TRUE(intake_.takeChanges(now_.utc).empty()) << "another connection may take another path";
}

TEST_F(PathIntakeTest, RefusesAMalformedReport) {
  wire::PathReport report;
  report.add_paths();
  EXPECT_TRUE(intake_.take(*agent_, report, now_.utc));
  for (int i = 0; i < 300; ++i) report.add_paths();
  EXPECT_EQ(intake_.take(*agent_, report, now_.utc), "paths: are more than 256");
}

TEST_F(PathIntakeTest, TellsTheHistoryOfFlowsThatTakeAnotherPath) {
  EXPECT_FALSE(take("fabric", "10.0.0.1", "10.0.0.2", 2, {1, 2}));
  now_.utc += kMinute;
  EXPECT_FALSE(take("fabric", "10.0.0.1", "10.0.0.2", 2, {1, 2}));
  EXPECT_TRUE(intake_.takeChanges(now_.utc).empty());
  now_.utc += kMinute;
  EXPECT_FALSE(take("fabric", "10.0.0.1", "10.0.0.2", 2, {1, 3}));
  const auto changes = intake_.takeChanges(now_.utc);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].utc, now_.utc);
  EXPECT_EQ(changes[0].hop, 2U);
  EXPECT_EQ(changes[0].path, 2U);
  EXPECT_TRUE(intake_.takeChanges(now_.utc).empty());
}

}  // namespace
}  // namespace pingloom::controller::path_intake_test
