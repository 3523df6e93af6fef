#include "store/stamp.h"

namespace pingloom::store::stamp_test {
namespace {

constexpr Nanos kMade = 1'700'000'000 * kSecond;

TEST(Stamp, CountsSixteenthsOfASecondFromOne) {
  EXPECT_EQ(stampAt(kMade, kMade), 1U);
  EXPECT_EQ(stampAt(kMade + kStampTick - 1, kMade), 1U);
  EXPECT_EQ(stampAt(kMade + kSecond, kMade), 17U);
  EXPECT_EQ(stampAt(kMade - kHour, kMade), 1U);  // a clock that was set back
}

TEST(Stamp, IsNeverZeroWhereItWraps) {
  const Nanos last = kMade + (Nanos{kStampPeriod} - 1) * kStampTick;
  EXPECT_EQ(stampAt(last, kMade), kStampPeriod);
  EXPECT_EQ(stampAt(last + kStampTick, kMade), 1U);
  EXPECT_EQ(stampAt(last + 2 * kStampTick, kMade), 2U);
}

TEST(Stamp, OrderAndAgeHoldAcrossTheWrap) {
  EXPECT_EQ(ticksBetween(5, 5), 0);
  EXPECT_EQ(ticksBetween(5, 9), 4);
  EXPECT_EQ(ticksBetween(9, 5), -4);
  EXPECT_EQ(ticksBetween(kStampPeriod, 1), 1);
  EXPECT_EQ(ticksBetween(1, kStampPeriod), -1);
  EXPECT_EQ(ticksBetween(kStampPeriod - 2, 3), 5);
  const Nanos written = kMade + (Nanos{kStampPeriod} - 8) * kStampTick;
  const Nanos asked = written + 2 * kSecond;
  EXPECT_EQ(ageOf(stampAt(written, kMade), asked, kMade), 2 * kSecond);
  EXPECT_EQ(ageOf(stampAt(asked, kMade), written, kMade), 0);  // written in the future
}

}  // namespace
}  // namespace pingloom::store::stamp_test
