#include "probe/tcp/connect_table.h"

#include <gtest/gtest.h>

namespace pingloom::probe::tcp::connect_table_test {
namespace {

constexpr auto kNone = ConnectTable::kNone;

Connect connectOf(std::uint32_t task, std::uint32_t target) {
  return {UniqueFd(), 0, 0, task, target};
}

std::vector<std::uint32_t> targetsOf(ConnectTable& table, std::uint32_t task,
                                     ConnectTable::Queue queue) {
  std::vector<std::uint32_t> targets;
  while (table.oldest(task, queue) != kNone) {
    targets.push_back(table[table.oldest(task, queue)].target);
    table.remove(table.oldest(task, queue));
  }
  return targets;
}

class ConnectTableTest : public testing::Test {
 protected:
  ConnectTableTest() { table.move({}, 3); }
  ConnectTable table{6};
};

TEST_F(ConnectTableTest, KeepsOrderPerTaskAndReusesMemory) {
  for (const std::uint32_t target : {4, 5, 6}) table.add(connectOf(0, target));
  table.add(connectOf(1, 9));
  table.remove(table.oldest(0, ConnectTable::kWaiting));
  table.add(connectOf(0, 7));
  EXPECT_EQ(table.size(), 4U);
  EXPECT_EQ(targetsOf(table, 0, ConnectTable::kWaiting), (std::vector<std::uint32_t>{5, 6, 7}));
  EXPECT_EQ(table.size(), 1U);
}

TEST_F(ConnectTableTest, IsBounded) {
  for (std::uint32_t i = 0; i < 6; ++i) {
    ASSERT_FALSE(table.full());
    table.add(connectOf(i % 3, i));
  }
  EXPECT_TRUE(table.full());
  table.remove(table.oldest(2, ConnectTable::kWaiting));
  EXPECT_FALSE(table.full());
}

TEST_F(ConnectTableTest, AKeyDiesWithItsConnect) {
  const auto slot = table.add(connectOf(0, 1));
  const auto key = table.keyOf(slot);
  EXPECT_GE(key, std::uint64_t{1} << 32);
  EXPECT_EQ(table.find(key), slot);
  table.remove(slot);
  EXPECT_EQ(table.find(key), kNone);
  EXPECT_EQ(table.add(connectOf(0, 2)), slot);
  EXPECT_EQ(table.find(key), kNone) << "an event for the one before";
  EXPECT_EQ(table.find(999), kNone);
}

TEST_F(ConnectTableTest, LingeringIsAQueueOfItsOwn) {
  const auto first = table.add(connectOf(0, 1));
  const auto second = table.add(connectOf(0, 2));
  table.linger(first, ConnectPhase::kLost);
  EXPECT_EQ(table.oldest(0, ConnectTable::kWaiting), second);
  EXPECT_EQ(table.oldest(0, ConnectTable::kLingering), first);
  table.remove(first);
  EXPECT_EQ(table.oldest(0, ConnectTable::kLingering), kNone);
}

TEST_F(ConnectTableTest, FollowsAPlanChange) {
  for (const std::uint32_t target : {0, 1, 2}) table.add(connectOf(0, target));
  table.add(connectOf(1, 0));
  const auto key = table.keyOf(table.add(connectOf(2, 0)));
  table.linger(table.add(connectOf(2, 1)), ConnectPhase::kUndecided);
  std::vector<TaskMove> moves(3);
  moves[0] = {1, {2, kGone, 0}};  // task 0 is now 1; its target 1 left
  moves[2] = {0, {}};             // task 1 is gone
  table.move(moves, 2);
  EXPECT_EQ(table.size(), 4U);
  EXPECT_EQ(table[table.find(key)].task, 0U);
  EXPECT_EQ(targetsOf(table, 0, ConnectTable::kLingering), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(targetsOf(table, 1, ConnectTable::kWaiting), (std::vector<std::uint32_t>{2, 0}));
  EXPECT_EQ(targetsOf(table, 0, ConnectTable::kWaiting), (std::vector<std::uint32_t>{0}));
}

}  // namespace
}  // namespace pingloom::probe::tcp::connect_table_test
