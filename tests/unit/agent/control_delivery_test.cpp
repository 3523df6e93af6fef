// Batches on their way to the controller: in order, a few at a time, again, and ahead of their
// turn.
#include "control_client_fixture.h"

namespace pingloom::agent::control_delivery_test {
namespace {

using ControlDeliveryTest = ControlClientTest;

TEST_F(ControlDeliveryTest, SendsAtMostEightBatchesUnacknowledged) {
  for (std::uint64_t i = 1; i <= 20; ++i) batches.add({kIncarnation, i});
  start();
  registerClient();
  EXPECT_EQ(takeBatches(8), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(client->inFlight(), 8U);
  answer(ackMessage(kIncarnation, 3));
  EXPECT_EQ(takeBatches(3), (std::vector<std::uint64_t>{9, 10, 11}));
  answer(ackMessage(kIncarnation, 11));
  EXPECT_EQ(takeBatches(8).back(), 19U);
  answer(ackMessage(kIncarnation, 19));
  EXPECT_EQ(takeBatches(1).back(), 20U);
  answer(ackMessage(kIncarnation, 20));
  ASSERT_TRUE(flow([&] { return batches.size() == 0; }));
  EXPECT_EQ(client->counters().batches_acknowledged, 20U);
  EXPECT_EQ(client->counters().batches_resent, 0U);
}

TEST_F(ControlDeliveryTest, OldIncarnationsGoFirstAndWhatTheControllerHasIsNotSent) {
  for (std::uint64_t i = 7; i <= 9; ++i) batches.add({kIncarnation - 1, i});
  batches.add({kIncarnation, 1});
  start();
  registerClient(kIncarnation - 1, 7);
  EXPECT_EQ(takeBatches(3), (std::vector<std::uint64_t>{8, 9, 1}));
  EXPECT_EQ(batches.size(), 3U);
}

TEST_F(ControlDeliveryTest, RepeatedAndImpossibleAcknowledgementsDoNoHarm) {
  for (std::uint64_t i = 1; i <= 3; ++i) batches.add({kIncarnation, i});
  start();
  registerClient();
  takeBatches(3);
  answer(ackMessage(kIncarnation, 99));
  ASSERT_TRUE(flow([&] { return client->counters().unexpected_messages == 1; }));
  EXPECT_EQ(batches.size(), 3U) << "what was never sent cannot be committed";
  answer(ackMessage(kIncarnation, 2));
  answer(ackMessage(kIncarnation, 2));
  answer(ackMessage(kIncarnation, 1));
  answer(ackMessage(kIncarnation, 3));
  ASSERT_TRUE(flow([&] { return batches.size() == 0; }));
  EXPECT_EQ(client->counters().batches_acknowledged, 3U);
}

TEST_F(ControlDeliveryTest, SendsAgainInOrderWithoutAcknowledgement) {
  for (std::uint64_t i = 1; i <= 3; ++i) batches.add({kIncarnation, i});
  start();
  registerClient();
  takeBatches(3);
  answer(ackMessage(kIncarnation, 1));
  ASSERT_TRUE(flow([&] { return client->inFlight() == 2; }));
  passSeconds(5);  // the answer to the first heartbeat begins the wait
  EXPECT_EQ(client->counters().batches_resent, 0U);
  passSeconds(1);
  EXPECT_EQ(takeBatches(1), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(client->inFlight(), 1U) << "one, until it is acknowledged";
  answer(ackMessage(kIncarnation, 2));
  EXPECT_EQ(takeBatches(1), (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(client->counters().batches_resent, 2U);
  answer(ackMessage(kIncarnation, 3));
  ASSERT_TRUE(flow([&] { return batches.size() == 0; }));
}

// A controller that is behind reads it when its turn comes: another one would come after it.
TEST_F(ControlDeliveryTest, ABatchThatIsNotReadYetIsNotSentAgain) {
  batches.add({kIncarnation, 1});
  start();
  registerClient();
  takeBatches(1);
  for (Nanos behind = kSecond; behind < ControlClient::kSilence; behind += kSecond) {
    now += kSecond;
    ASSERT_TRUE(expect(Body::kHeartbeat));
  }
  EXPECT_EQ(client->state(), ControlClient::State::kRegistered);
  EXPECT_EQ(client->counters().batches_resent, 0U);
  answer(replyMessage(now, kHour));
  ASSERT_TRUE(flow([&] { return owner.offset.has_value(); }));
  passSeconds(4);
  EXPECT_EQ(client->counters().batches_resent, 0U);
  passSeconds(1);
  EXPECT_EQ(takeBatches(1), (std::vector<std::uint64_t>{1}));
}

TEST_F(ControlDeliveryTest, WhatIsMeasuredWhileNothingIsCommittedIsShownAtOnce) {
  for (std::uint64_t i = 1; i <= 12; ++i) batches.add({kIncarnation, i});
  start();
  registerClient();
  ASSERT_EQ(takeBatches(8).back(), 8U);
  EXPECT_EQ(client->counters().batches_shown, 0U) << "an outage's results wait for their turn";
  for (std::uint64_t i = 13; i <= 15; ++i) {
    batches.add({kIncarnation, i});
    const auto shown = expect(Body::kLive);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->body.live().sequence(), i);
  }
  EXPECT_EQ(client->inFlight(), 8U) << "what is shown is not waited for";
  // The controller asks for another try; then it can commit again.
  now += 2 * kSecond;
  answer(refusedMessage(wire::Refused::NOT_REGISTERED));
  registerClient();
  EXPECT_EQ(takeBatches(1), (std::vector<std::uint64_t>{1}));
  batches.add({kIncarnation, 16});
  ASSERT_EQ(expect(Body::kLive)->body.live().sequence(), 16U);
  answer(ackMessage(kIncarnation, 1));
  EXPECT_EQ(takeBatches(8).back(), 9U);
  answer(ackMessage(kIncarnation, 9));
  EXPECT_EQ(takeBatches(7), (std::vector<std::uint64_t>{10, 11, 12, 13, 14, 15, 16}));
  answer(ackMessage(kIncarnation, 16));
  ASSERT_TRUE(flow([&] { return batches.size() == 0; }));
  EXPECT_EQ(client->counters().batches_shown, 4U);
  batches.add({kIncarnation, 17});
  EXPECT_EQ(takeBatches(1), (std::vector<std::uint64_t>{17}));
  EXPECT_EQ(client->counters().batches_shown, 4U) << "it has its turn at once";
}

TEST_F(ControlDeliveryTest, AnAcknowledgementOfWhatWasOnlyShownIsNotTaken) {
  for (std::uint64_t i = 1; i <= 8; ++i) batches.add({kIncarnation, i});
  start();
  registerClient();
  takeBatches(8);
  batches.add({kIncarnation, 9});
  ASSERT_TRUE(expect(Body::kLive));
  answer(ackMessage(kIncarnation, 9));
  ASSERT_TRUE(flow([&] { return client->counters().unexpected_messages == 1; }));
  EXPECT_EQ(batches.size(), 9U);
}

}  // namespace
}  // namespace pingloom::agent::control_delivery_test
