#include "probe/inbound_counts.h"

#include <gtest/gtest.h>

#include <array>

namespace pingloom::probe::inbound_counts_test {
namespace {

class InboundCountsTest : public testing::Test {
 protected:
  static constexpr Nanos kWindow = 10 * kSecond;
  static constexpr std::uint64_t kFirst = 1'000'000;  // the window in which the counting begins

  static InboundCounts::Clock at(std::uint64_t window, Nanos into = 5 * kSecond) {
    return {static_cast<Nanos>(window) * kWindow + into, 0, kWindow};
  }
  static std::uint32_t low(std::uint64_t window) { return static_cast<std::uint32_t>(window); }
  // What the row of the second target says when the window closes.
  std::uint32_t taken(std::uint64_t window, const InboundCounts::Clock& clock) {
    std::array<PairWindow, 2> pairs;
    counts_.take(window, clock, pairs);
    return pairs[1].inbound;
  }
  std::uint32_t taken(std::uint64_t window) { return taken(window, at(window + 1, 2 * kSecond)); }

  InboundCounts counts_{2};
};

TEST_F(InboundCountsTest, CountsByTheWindowThatThePingNames) {
  counts_.begin(at(kFirst));
  for (int i = 0; i < 10; ++i) counts_.arrived(1, low(kFirst + 1), at(kFirst + 1));
  counts_.arrived(0, low(kFirst + 1), at(kFirst + 1));
  // The clock of its sender is a little ahead, or its PING took long.
  counts_.arrived(1, low(kFirst + 2), at(kFirst + 1, kWindow - 1));
  counts_.arrived(1, low(kFirst + 1), at(kFirst + 2, 1));
  EXPECT_EQ(taken(kFirst + 1), 11U);
  EXPECT_EQ(taken(kFirst + 2), 1U);
  EXPECT_EQ(taken(kFirst + 3), 0U) << "nothing arrived";
}

TEST_F(InboundCountsTest, DoesNotKnowWindowsThatItHasNotSeenFromTheBeginning) {
  EXPECT_EQ(taken(kFirst - 1), kInboundUnknown);
  counts_.begin(at(kFirst));
  counts_.arrived(1, low(kFirst), at(kFirst));
  EXPECT_EQ(taken(kFirst), kInboundUnknown);
  EXPECT_EQ(taken(kFirst + 1), 0U);

  InboundCounts late(2);
  late.begin(at(kFirst, kWindow - InboundCounts::kMargin + 1));
  std::array<PairWindow, 2> pairs;
  late.take(kFirst + 1, at(kFirst + 2), pairs);
  EXPECT_EQ(pairs[1].inbound, kInboundUnknown) << "it began too shortly before the window";
}

TEST_F(InboundCountsTest, DoesNotBelieveAHostThatNumbersItsWindowsOtherwise) {
  counts_.begin(at(kFirst));
  counts_.arrived(1, low(kFirst + 4), at(kFirst + 2));  // far ahead
  EXPECT_EQ(taken(kFirst + 2), kInboundUnknown);
  EXPECT_EQ(taken(kFirst + 3), kInboundUnknown);
  EXPECT_EQ(taken(kFirst + 4), 0U);
  counts_.arrived(1, low(kFirst + 4), at(kFirst + 5));  // closed here
  EXPECT_EQ(taken(kFirst + 6), kInboundUnknown);
  EXPECT_EQ(taken(kFirst + 7), 0U);
  counts_.arrived(1, low(kFirst + 8) + 0x80000000U, at(kFirst + 8));
  EXPECT_EQ(taken(kFirst + 9), kInboundUnknown);
}

TEST_F(InboundCountsTest, BeginsAgainWhenTheControllersClockIsSet) {
  counts_.begin(at(kFirst));
  counts_.arrived(1, low(kFirst + 1), at(kFirst + 1));
  InboundCounts::Clock set = at(kFirst + 2);
  set.offset = kSecond;
  EXPECT_EQ(taken(kFirst + 1, set), kInboundUnknown);
  set = at(kFirst + 4);
  set.offset = kSecond;
  EXPECT_EQ(taken(kFirst + 3, set), 0U);
}

TEST_F(InboundCountsTest, KeepsABoundedNumberOfWindows) {
  counts_.begin(at(kFirst));
  const std::uint64_t most = InboundCounts::kMaxOpen;
  for (std::uint64_t i = 0; i < 3 * most; ++i) {
    counts_.arrived(1, low(kFirst + i), at(kFirst + i));
  }
  EXPECT_EQ(taken(kFirst + 2 * most - 1), kInboundUnknown);
  EXPECT_EQ(taken(kFirst + 2 * most), 1U);
}

}  // namespace
}  // namespace pingloom::probe::inbound_counts_test
