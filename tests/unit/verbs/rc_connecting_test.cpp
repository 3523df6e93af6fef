#include <gmock/gmock.h>

#include <algorithm>

#include "rc_host.h"
#include "unit/eventually.h"

namespace pingloom::rdma::verbs::rc_connecting_test {
namespace {

constexpr const char* kNics =
    "device nic_a\nport 1 mtu=1024\ngid 0 10.0.0.1 v2\n"
    "device nic_b\nport 1 mtu=1024\ngid 0 10.0.0.2 v2\n"
    "device nic_c\nport 1 mtu=1024\ngid 0 10.0.0.3 v2\n";

class RcConnectingTest : public FakeVerbsTest {
 protected:
  void SetUp() override {
    setDevices(kNics);
    fakeVerbsFault("hold_lookup nic_a 10.0.0.3 1");
  }
  static void letGo() { fakeVerbsFault("hold_lookup nic_a 10.0.0.3 0"); }
  // Until it is connecting no more.
  static Status settled(RcSide& side) {
    Status polled;
    test::eventually([&] { return !polled || side.endpoint->state() != RcState::kConnecting; },
                     [&] { polled = side.step(); });
    return polled;
  }
};

TEST_F(RcConnectingTest, TheOthersOfItsThreadGoOnMeanwhile) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  RcSide c("10.0.0.3");
  connect(a, b);
  auto slow = a.domain->createRc(RcSide::everything());
  ASSERT_TRUE(slow);
  ASSERT_TRUE((*slow)->startConnect(c.endpoint->address()));
  ASSERT_TRUE(c.endpoint->connect((*slow)->address()));
  b.memory[0] = 0;
  for (std::uint8_t value = 1; value < 50; ++value) {
    b.memory[0] = value;
    const RcRequest read = a.request(RcOperation::kRead, b, 1);
    ASSERT_EQ(a.post(read), PostResult::kPosted);
    ASSERT_EQ(a.endOf(read.id), RcStatus::kOk);
    EXPECT_EQ(a.memory[0], value);
    RcEvents none;
    ASSERT_TRUE((*slow)->poll(none));
  }
  EXPECT_EQ((*slow)->state(), RcState::kConnecting);
  EXPECT_EQ((*slow)->post(a.request(RcOperation::kRead, c, 1)), PostResult::kUnreachable);
  EXPECT_FALSE((*slow)->startConnect(c.endpoint->address())) << "once only";

  letGo();
  a.endpoint = std::move(*slow);
  ASSERT_TRUE(settled(a));
  EXPECT_EQ(a.endpoint->state(), RcState::kConnected);
  c.memory[0] = 77;
  const RcRequest read = a.request(RcOperation::kRead, c, 1);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  EXPECT_EQ(a.endOf(read.id), RcStatus::kOk);
  EXPECT_EQ(a.memory[0], 77);
}

TEST_F(RcConnectingTest, WhatTheKernelDoesNotFindPollSays) {
  RcSide a("10.0.0.1");
  RcSide c("10.0.0.3");
  ASSERT_TRUE(a.endpoint->startConnect(c.endpoint->address()));
  fakeVerbsFault("handle_errno nic_a 10.0.0.3 110");  // ETIMEDOUT
  letGo();
  const Status polled = settled(a);
  ASSERT_FALSE(polled);
  EXPECT_THAT(polled.error().text(), testing::HasSubstr("there is no way to 10.0.0.3"));
  EXPECT_EQ(a.endpoint->state(), RcState::kFailed);
}

TEST_F(RcConnectingTest, OneThatGoesMeanwhileLeavesNothingBehind) {
  const int before = fakeVerbsLiveObjects();
  {
    RcSide a("10.0.0.1");
    RcSide c("10.0.0.3");
    ASSERT_TRUE(a.endpoint->startConnect(c.endpoint->address()));
    a.endpoint.reset();  // does not wait
    a.endpoint = std::move(a.domain->createRc(RcSide::everything()).value());
    ASSERT_TRUE(a.endpoint->startConnect(c.endpoint->address()));
    fakeVerbsFault("remove nic_a");
    EXPECT_NE(a.failure(), "") << "a device that has gone is noticed while it connects";
  }
  letGo();
  EXPECT_TRUE(test::eventually([&] { return fakeVerbsLiveObjects() == before; }));
}

}  // namespace
}  // namespace pingloom::rdma::verbs::rc_connecting_test
