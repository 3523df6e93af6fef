#include "net/tx_numbers.h"

#include <gtest/gtest.h>

namespace pingloom::net::tx_numbers_test {
namespace {

TxTag tag(std::uint32_t id) { return {1, id}; }

TEST(TxNumbers, SaysWhatANumberStandsForOnce) {
  TxNumbers numbers;
  EXPECT_FALSE(numbers.take(0));
  EXPECT_FALSE(numbers.awaits());
  numbers.add(tag(70));
  numbers.add(tag(71));
  EXPECT_TRUE(numbers.awaits());
  EXPECT_EQ(numbers.take(1)->id, 71U);
  EXPECT_FALSE(numbers.awaits()) << "the last one has been heard of";
  EXPECT_EQ(numbers.take(0)->id, 70U);
  EXPECT_FALSE(numbers.take(0));
  EXPECT_FALSE(numbers.take(2)) << "not given out yet";
}

TEST(TxNumbers, ForgetsWhatIsTooOldAndWhatWasBeforeARestart) {
  TxNumbers numbers;
  for (std::uint32_t i = 0; i <= TxNumbers::kRemembered; ++i) numbers.add(tag(i));
  EXPECT_FALSE(numbers.take(0));
  EXPECT_EQ(numbers.take(1)->id, 1U);
  EXPECT_EQ(numbers.take(TxNumbers::kRemembered)->id, TxNumbers::kRemembered);
  numbers.restart();
  EXPECT_FALSE(numbers.take(2));
  numbers.add(tag(9));
  EXPECT_EQ(numbers.take(0)->id, 9U);
}

}  // namespace
}  // namespace pingloom::net::tx_numbers_test
