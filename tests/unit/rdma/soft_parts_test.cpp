#include <gtest/gtest.h>

#include "rdma/soft/free_slots.h"
#include "rdma/soft/in_flight.h"
#include "rdma/soft/interface_mtu.h"
#include "rdma/soft/packet_sink.h"
#include "rdma/soft/receive_queue.h"

namespace pingloom::rdma::soft::soft_parts_test {
namespace {

UdSent leftAt(std::uint64_t ticks) { return {.id = 0, .ok = true, .ticks = ticks}; }

TEST(InFlight, ReportsEachMessageOnce) {
  InFlight messages(0xFFFFFFFF);  // numbers wrap
  std::vector<UdSent> out;
  const auto first = messages.add(100);
  const auto second = messages.add(200);
  messages.flushed(10);
  messages.finish(second, leftAt(7), out);
  messages.finish(second, leftAt(8), out);
  messages.finish(second + 1, leftAt(8), out);
  messages.finish(first - 1, leftAt(8), out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].id, 200U);
  EXPECT_EQ(out[0].ticks, 7U);
  messages.finish(first, leftAt(9), out);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[1].id, 100U);
  EXPECT_EQ(messages.nextExpiry(), kNever);
}

TEST(InFlight, GivesUpWaitingForADeparture) {
  InFlight messages(0);
  std::vector<UdSent> out;
  messages.add(1);
  EXPECT_EQ(messages.nextExpiry(), kNever) << "not flushed yet";
  messages.flushed(1000);
  const auto second = messages.add(2);
  messages.flushed(2000);
  messages.add(3);
  EXPECT_EQ(messages.nextExpiry(), 1000 + InFlight::kMaxWait);
  messages.expire(999 + InFlight::kMaxWait, out);
  EXPECT_TRUE(out.empty());
  messages.expire(2000 + InFlight::kMaxWait, out);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].id, 1U);
  EXPECT_TRUE(out[0].ok);
  EXPECT_FALSE(out[0].ticks);
  messages.finish(second, leftAt(5), out);
  EXPECT_EQ(out.size(), 2U) << "too late";
}

TEST(InFlight, IsBoundedAndTakesBack) {
  InFlight messages(5);
  std::vector<UdSent> out;
  for (std::size_t i = 0; i < InFlight::kMax; ++i) {
    ASSERT_FALSE(messages.full());
    messages.add(i);
  }
  EXPECT_TRUE(messages.full());
  messages.undo();
  EXPECT_FALSE(messages.full());
  messages.add(7);
  messages.finish(5, leftAt(1), out);
  EXPECT_FALSE(messages.full());
}

TEST(ReceiveQueue, KeepsWhatWasShownUntilItIsForgotten) {
  ReceiveQueue queue(4);
  std::vector<UdReceived> shown;
  const std::uint8_t payload[] = {1, 2, 3};
  UdReceived message;
  message.payload = payload;
  std::uint32_t added = 0;
  // Round and round, with something always left over.
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 7; ++i) {
      message.qpn = added++;
      queue.add(message);
    }
    EXPECT_TRUE(queue.hasNews());
    shown.clear();
    queue.show(shown);
    ASSERT_EQ(shown.size(), 7U);
    message.qpn = added++;
    queue.add(message);  // by another endpoint's poll
    EXPECT_EQ(shown[6].qpn, added - 2);
    EXPECT_EQ(shown[6].payload[2], 3);
    queue.forgetShown();
    EXPECT_EQ(queue.room(), ReceiveQueue::kMax - 1);
    shown.clear();
    queue.show(shown);
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(shown[0].qpn, added - 1);
    if (round % 2 == 0) queue.forgetShown();
    while (round % 2 == 1 && queue.room() < ReceiveQueue::kMax) queue.forgetShown();
  }
  while (!queue.full()) queue.add(message);
  EXPECT_EQ(queue.room(), 0U);
}

TEST(FreeSlots, GivesTheLowest) {
  FreeSlots<128> slots;
  for (std::uint32_t slot = 0; slot < 128; ++slot) {
    ASSERT_FALSE(slots.empty());
    ASSERT_EQ(slots.size(), 128U - slot);
    ASSERT_EQ(slots.take(), slot);
  }
  EXPECT_TRUE(slots.empty());
  for (const std::uint32_t slot : {127U, 3U, 64U, 2U, 63U}) slots.give(slot);
  EXPECT_EQ(slots.size(), 5U);
  for (const std::uint32_t slot : {2U, 3U, 63U, 64U}) EXPECT_EQ(slots.take(), slot);
  slots.give(63);
  EXPECT_EQ(slots.take(), 63U);
  EXPECT_EQ(slots.take(), 127U);
  EXPECT_TRUE(slots.empty());
}

struct Sink final : PacketSink {
  void received(const Inbound&) override {}
  void departed(std::uint32_t, Nanos) override {}
  void failed(std::uint32_t) override {}
};

TEST(SinkTable, GivesPlacesNobodyElseHas) {
  SinkTable table;
  Sink sink;
  std::vector<SinkTable::Place> places;
  for (std::size_t i = 0; i < SinkTable::kMax; ++i) {
    const auto place = table.add(sink);
    ASSERT_TRUE(place);
    EXPECT_NE(place->owner, 0) << "0 is nobody";
    for (const auto& other : places) {
      EXPECT_NE(other.owner, place->owner);
      EXPECT_NE(other.qpn, place->qpn);
    }
    places.push_back(*place);
  }
  EXPECT_FALSE(table.add(sink));
  table.remove(places[17]);
  EXPECT_EQ(table.byOwner(places[17].owner), nullptr);
  EXPECT_EQ(table.byQpn(places[17].qpn), nullptr);
  EXPECT_TRUE(table.add(sink));
}

TEST(SinkTable, GivesQpnsOfItsClassOnly) {
  Sink sink;
  for (const std::uint32_t modulus : {1U, 2U, 3U, 64U}) {
    for (const std::uint32_t remainder : {0U, modulus - 1}) {
      SinkTable table({modulus, remainder});
      for (std::size_t i = 0; i < SinkTable::kMax; ++i) {
        const auto place = table.add(sink);
        ASSERT_TRUE(place);
        EXPECT_EQ(place->qpn % modulus, remainder);
        EXPECT_GT(place->qpn, 1U);
        EXPECT_LT(place->qpn, kMask24);
        EXPECT_EQ(table.byQpn(place->qpn), &sink);
      }
    }
  }
}

TEST(SinkTable, DoesNotGiveAnOwnersNumberAgainSoon) {
  SinkTable table;
  Sink sink;
  const auto first = table.add(sink);
  table.remove(*first);
  for (std::size_t i = 1; i < SinkTable::kMax; ++i) {
    const auto next = table.add(sink);
    EXPECT_NE(next->owner, first->owner);
    table.remove(*next);
  }
  EXPECT_EQ(table.add(sink)->owner, first->owner);
}

TEST(InterfaceMtu, LeavesRoomForTheHeaders) {
  EXPECT_EQ(pathMtuFor(65536, false), 4096U);
  EXPECT_EQ(pathMtuFor(9000, true), 4096U);
  EXPECT_EQ(pathMtuFor(4200, false), 4096U);
  EXPECT_EQ(pathMtuFor(4096, false), 2048U);
  EXPECT_EQ(pathMtuFor(1500, false), 1024U);
  EXPECT_EQ(pathMtuFor(1500, true), 1024U);
  EXPECT_EQ(pathMtuFor(576, false), 512U);
  EXPECT_EQ(pathMtuFor(576, true), 256U);
  EXPECT_EQ(pathMtuFor(300, false), 0U);
  EXPECT_EQ(pathMtuOf(IpAddress::parse("127.200.1.1").value()), 4096U);
}

}  // namespace
}  // namespace pingloom::rdma::soft::soft_parts_test
