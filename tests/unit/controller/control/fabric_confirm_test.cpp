#include "controller/control/fabric_confirm.h"

#include <gmock/gmock.h>

#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::fabric_confirm_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class FabricConfirmTest : public testing::Test {
 protected:
  static FlowName flow(std::uint32_t source) {
    return {"fabric", IpAddress::fromV4(0x0A010001 + source), IpAddress::fromV4(0x0A010008), 3};
  }
  void begin(Nanos now, std::uint32_t flows = 2) {
    std::vector<FlowName> names;
    for (std::uint32_t i = 0; i < flows; ++i) names.push_back(flow(i));
    confirm_.begin(names, *plan_, now);
  }
  // Answers the orders that wait, and returns them; ids count from 1.
  std::vector<BurstOrder> answer(bool accept = true) {
    std::vector<BurstOrder> orders;
    for (const auto& asked : board_.takeAsked()) {
      orders.push_back(asked.order);
      asked.reply({accept ? ++ids_ : 0, BurstRefusal::kAgentBusy, "busy"});
    }
    return orders;
  }
  void finish(std::uint64_t id, BurstState state, std::uint32_t lost) {
    auto burst = std::make_shared<BurstSnapshot>();
    burst->id = id;
    burst->state = state;
    for (std::uint32_t i = 1; i <= FabricConfirm::kPings; ++i) {
      burst->pings.push_back({i, i <= lost ? PingFate::kLost : PingFate::kReceived});
    }
    board_.publish(std::move(burst));
  }

  std::shared_ptr<const GridPlan> plan_ =
      makeGridPlan(test::pinglistOf("  - { name: fabric, protocol: rdma, mesh: "
                                    "['10.1.0.[1-8]'], paths: 8, timeout: 300ms }\n"),
                   1);
  BurstBoard board_;
  FabricConfirm confirm_{board_};
  std::uint64_t ids_ = 0;
};

TEST_F(FabricConfirmTest, OrdersBurstsAndTakesWhatTheyCount) {
  begin(kSecond);
  const auto orders = answer();
  ASSERT_THAT(orders, SizeIs(2));
  EXPECT_EQ(orders[0].probe, "fabric");
  EXPECT_EQ(orders[0].path, 3U);
  EXPECT_EQ(orders[0].count, FabricConfirm::kPings);
  EXPECT_EQ(orders[0].timeout, 300 * kMillisecond);
  finish(1, BurstState::kRunning, 0);
  EXPECT_FALSE(confirm_.collect(kSecond));
  finish(1, BurstState::kDone, 7);
  EXPECT_TRUE(confirm_.collect(2 * kSecond));
  ASSERT_THAT(confirm_.evidence(), SizeIs(1));
  EXPECT_EQ(confirm_.evidence()[0].sent, FabricConfirm::kPings);
  EXPECT_EQ(confirm_.evidence()[0].lost, 7U);
  EXPECT_FALSE(confirm_.collect(2 * kSecond)) << "each burst counts once";
}

TEST_F(FabricConfirmTest, EvidenceExpires) {
  begin(kSecond, 1);
  answer();
  finish(1, BurstState::kDone, 7);
  EXPECT_TRUE(confirm_.collect(2 * kSecond));
  EXPECT_FALSE(confirm_.collect(2 * kSecond + FabricConfirm::kHold - 1));
  EXPECT_TRUE(confirm_.collect(2 * kSecond + FabricConfirm::kHold));
  EXPECT_THAT(confirm_.evidence(), IsEmpty());
}

TEST_F(FabricConfirmTest, RoundsAreRareAndSmall) {
  begin(kSecond, 8);
  EXPECT_THAT(answer(), SizeIs(FabricConfirm::kFlows));
  begin(2 * kSecond);
  EXPECT_THAT(answer(), IsEmpty());
  begin(kSecond + FabricConfirm::kPause);
  EXPECT_THAT(answer(), SizeIs(2));
  EXPECT_EQ(confirm_.rounds(), 2U);
}

TEST_F(FabricConfirmTest, DoesWithoutWhatIsRefusedOrFails) {
  begin(kSecond);
  answer(false);
  EXPECT_FALSE(confirm_.collect(2 * kSecond));
  begin(kMinute, 3);
  answer();
  finish(1, BurstState::kFailed, 0);
  finish(2, BurstState::kDone, 0);
  EXPECT_TRUE(confirm_.collect(kMinute + kSecond));
  EXPECT_THAT(confirm_.evidence(), SizeIs(1)) << "the third was forgotten";
}

TEST_F(FabricConfirmTest, AsksNothingOfProbesThatAreGone) {
  confirm_.begin({{"gone", flow(0).source, flow(0).destination, 1}}, *plan_, kSecond);
  EXPECT_THAT(answer(), IsEmpty());
}

}  // namespace
}  // namespace pingloom::controller::fabric_confirm_test
