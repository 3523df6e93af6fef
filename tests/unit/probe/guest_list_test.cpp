#include "probe/guest_list.h"

#include <gtest/gtest.h>

namespace pingloom::probe::guest_list_test {
namespace {

TEST(TokenBucket, LimitsTheRateAndAllowsABurst) {
  TokenBucket bucket(1000);
  const Nanos start = kHour;
  int taken = 0;
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start) ? 1 : 0;
  EXPECT_EQ(taken, 1000);
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start + 100 * kMillisecond) ? 1 : 0;
  EXPECT_EQ(taken, 1100);
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start + kHour) ? 1 : 0;
  EXPECT_EQ(taken, 2100) << "what nobody used does not pile up";
}

TEST(GuestList, LimitsOnlyThoseItDoesNotKnow) {
  GuestList guests;
  guests.setKnown(std::make_shared<const plan::AddressList>(
      plan::AddressList{IpAddress::fromV4(10), IpAddress::fromV4(20)}));
  const Nanos now = kHour;
  std::uint32_t admitted = 0;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    EXPECT_TRUE(guests.admits(IpAddress::fromV4(20), now));
    admitted += guests.admits(IpAddress::fromV4(1000 + i), now) ? 1 : 0;
  }
  EXPECT_EQ(admitted, GuestList::kStrangersPerSecond);
}

}  // namespace
}  // namespace pingloom::probe::guest_list_test
