#include "collector/board.h"

#include <gtest/gtest.h>

namespace pingloom::collector::board_test {
namespace {

TEST(Board, AnEntryThatWasReplacedDoesNotTakeItsSuccessorAway) {
  Board board;
  const auto first = board.add("10.0.0.1:20714");
  const auto second = board.add("10.0.0.1:20714");
  board.remove(first);
  ASSERT_EQ(board.entries().size(), 1U);
  EXPECT_EQ(board.entries().front(), second);
  board.remove(second);
  EXPECT_TRUE(board.entries().empty());
  board.remove(second);
}

}  // namespace
}  // namespace pingloom::collector::board_test
