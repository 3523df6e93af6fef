#include "probe/exchange_table.h"

#include <gtest/gtest.h>

#include <set>

namespace pingloom::probe::exchange_table_test {
namespace {

static_assert(sizeof(Exchange) <= 128, "a hundred thousand of them have to fit");

constexpr Instant at(Nanos mono) { return {mono, mono}; }

TEST(ExchangeTable, FindsWhatIsOpenAndNothingElse) {
  ExchangeTable table;
  Exchange* first = table.open(kSecond, at(0));
  Exchange* second = table.open(kSecond, at(1));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(first->id, second->id);
  EXPECT_EQ(table.find(first->id), first);
  EXPECT_EQ(table.find(second->id), second);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(0xffffffff), nullptr);
  EXPECT_EQ(table.find(first->id + (1U << ExchangeTable::kSlotBits)), nullptr);
  const std::uint32_t gone = first->id;
  table.release(*first);
  EXPECT_EQ(table.find(gone), nullptr);
  EXPECT_EQ(table.size(), 1U);
}

TEST(ExchangeTable, ASlotUsedAgainHasAnotherId) {
  ExchangeTable table;
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 5000; ++i) {
    Exchange* exchange = table.open(kSecond, at(i));
    ASSERT_NE(exchange, nullptr);
    EXPECT_NE(exchange->id, 0U);
    EXPECT_TRUE(ids.insert(exchange->id).second) << i;
    table.release(*exchange);
  }
}

TEST(ExchangeTable, EachUnansweredExchangeIsOverdueOnce) {
  ExchangeTable table;
  constexpr Nanos kGrace = kSecond;  // so those that live for 3 s are overdue after 2 s
  const auto first = table.open(3 * kSecond, at(0))->id;
  Exchange* answered = table.open(3 * kSecond, at(1));
  const auto third = table.open(3 * kSecond, at(2))->id;
  const auto quick = table.open(2 * kSecond, at(3))->id;
  answered->state = ExchangeState::kSettled;
  EXPECT_EQ(table.nextOverdue(kGrace), kSecond + 3);
  EXPECT_EQ(table.overdue(kSecond + 2, kGrace), nullptr);
  EXPECT_EQ(table.overdue(kSecond + 3, kGrace)->id, quick);
  EXPECT_EQ(table.overdue(kSecond + 3, kGrace), nullptr) << "once only";
  EXPECT_EQ(table.overdue(2 * kSecond + 2, kGrace)->id, first);
  EXPECT_EQ(table.overdue(2 * kSecond + 2, kGrace)->id, third);
  EXPECT_EQ(table.overdue(9 * kSecond, kGrace), nullptr);
  EXPECT_EQ(table.nextOverdue(kGrace), kNever);
  EXPECT_EQ(table.size(), 4U) << "they wait for late answers";
}

TEST(ExchangeTable, AReleasedExchangeIsNotOverdue) {
  ExchangeTable table;
  Exchange* gone = table.open(2 * kSecond, at(0));
  const auto stays = table.open(2 * kSecond, at(1))->id;
  table.release(*gone);
  EXPECT_EQ(table.overdue(9 * kSecond, kSecond)->id, stays);
  table.release(*table.find(stays));
  EXPECT_EQ(table.nextOverdue(kSecond), kNever);
  const auto again = table.open(2 * kSecond, at(10 * kSecond))->id;
  EXPECT_EQ(table.overdue(11 * kSecond, kSecond)->id, again);
}

TEST(ExchangeTable, ExpiresEachQueueOldestFirst) {
  ExchangeTable table;
  const auto slow = table.open(10 * kSecond, at(0))->id;
  const auto quick = table.open(kSecond, at(1))->id;
  const auto quick_later = table.open(kSecond, at(2))->id;
  EXPECT_EQ(table.nextExpiry(), kSecond + 1);
  EXPECT_EQ(table.expired(kSecond), nullptr);
  ASSERT_NE(table.expired(kSecond + 1), nullptr);
  EXPECT_EQ(table.expired(kSecond + 2)->id, quick);
  table.release(*table.expired(kSecond + 2));
  EXPECT_EQ(table.expired(kSecond + 2)->id, quick_later);
  table.release(*table.expired(kSecond + 2));
  EXPECT_EQ(table.expired(kSecond + 2), nullptr);
  EXPECT_EQ(table.nextExpiry(), 10 * kSecond);
  EXPECT_EQ(table.expired(10 * kSecond)->id, slow);
}

TEST(ExchangeTable, ReleasesFromTheMiddleOfAQueue) {
  ExchangeTable table;
  std::vector<Exchange*> all;
  for (int i = 0; i < 5; ++i) all.push_back(table.open(kSecond, at(i)));
  for (const std::size_t i : {2U, 4U, 0U}) table.release(*all[i]);
  EXPECT_EQ(table.expired(kMinute), all[1]);
  table.release(*all[1]);
  EXPECT_EQ(table.expired(kMinute), all[3]);
  table.release(*all[3]);
  EXPECT_EQ(table.expired(kMinute), nullptr);
  EXPECT_EQ(table.nextExpiry(), kNever);
  EXPECT_EQ(table.size(), 0U);
}

TEST(ExchangeTable, IsBoundedAndUsableAgainAfterwards) {
  ExchangeTable table;
  std::vector<std::uint32_t> ids;
  while (Exchange* exchange = table.open(kSecond, at(0))) ids.push_back(exchange->id);
  EXPECT_EQ(ids.size(), ExchangeTable::kMax);
  EXPECT_EQ(std::set<std::uint32_t>(ids.begin(), ids.end()).size(), ids.size());
  table.release(*table.find(ids[77]));
  Exchange* again = table.open(kSecond, at(0));
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(table.find(ids[77]), nullptr) << "the same slot, another generation";
  std::size_t seen = 0;
  table.forEach([&](Exchange& exchange) {
    ++seen;
    table.release(exchange);
  });
  EXPECT_EQ(seen, ExchangeTable::kMax);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_NE(table.open(kSecond, at(0)), nullptr);
}

TEST(ExchangeTable, LifetimesThatNobodyUsesMakeRoomForOthers) {
  ExchangeTable table;
  for (Nanos lifetime = 1; lifetime <= 10'000; ++lifetime) {
    Exchange* exchange = table.open(lifetime, at(0));
    ASSERT_NE(exchange, nullptr) << lifetime;
    table.release(*exchange);
  }
}

}  // namespace
}  // namespace pingloom::probe::exchange_table_test
