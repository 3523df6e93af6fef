#include "common/backoff.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/time.h"

namespace pingloom::backoff_test {
namespace {

std::vector<std::int64_t> pauses(Backoff& backoff, int failures) {
  std::vector<std::int64_t> made;
  for (int i = 0; i < failures; ++i) made.push_back(backoff.fail());
  return made;
}

TEST(Backoff, DoublesThePauseUpToTheLongest) {
  Backoff backoff(100, 500);
  EXPECT_EQ(pauses(backoff, 5), (std::vector<std::int64_t>{100, 200, 400, 500, 500}));
}

TEST(Backoff, BeginsAgainAfterASuccess) {
  Backoff backoff(100, 500);
  pauses(backoff, 3);
  backoff.reset();
  EXPECT_EQ(backoff.last(), 0);
  EXPECT_EQ(pauses(backoff, 2), (std::vector<std::int64_t>{100, 200}));
}

TEST(Backoff, TellsTheLastAndTheNextPauseWithoutChangingThem) {
  Backoff backoff(5, 60);
  EXPECT_EQ(backoff.last(), 0);
  EXPECT_EQ(backoff.next(), 5);
  EXPECT_EQ(backoff.next(), 5);
  EXPECT_EQ(backoff.fail(), 5);
  EXPECT_EQ(backoff.last(), 5);
  EXPECT_EQ(backoff.next(), 10);
}

TEST(Backoff, StaysAtTheLongestForever) {
  Backoff backoff(kMillisecond, kMinute);
  for (int i = 0; i < 1000; ++i) backoff.fail();
  EXPECT_EQ(backoff.fail(), kMinute);
}

TEST(Backoff, DoesNotDoubleWhereFirstIsTheLongest) {
  Backoff backoff(kSecond, kSecond);
  EXPECT_EQ(pauses(backoff, 3), (std::vector<std::int64_t>{kSecond, kSecond, kSecond}));
}

}  // namespace
}  // namespace pingloom::backoff_test
