#include "probe/guest_list.h"

#include <gtest/gtest.h>

namespace pingloom::probe::guest_list_test {
namespace {

TEST(TokenBucket, LimitsTheRateAndAllowsABurst) {
  TokenBucket bucket(1000, 1000);
  const Nanos start = kHour;
  int taken = 0;
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start) ? 1 : 0;
  EXPECT_EQ(taken, 1000);
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start + 100 * kMillisecond) ? 1 : 0;
  EXPECT_EQ(taken, 1100);
  for (int i = 0; i < 5000; ++i) taken += bucket.take(start + kHour) ? 1 : 0;
  EXPECT_EQ(taken, 2100) << "what nobody used does not pile up";
}

GuestList listOf(std::uint32_t pings_per_second) {
  GuestList guests;
  guests.setKnown(std::make_shared<const Guests>(
      Guests{{IpAddress::fromV4(10), 1}, {IpAddress::fromV4(20), pings_per_second}}));
  return guests;
}

TEST(GuestList, LimitsStrangersTogether) {
  GuestList guests = listOf(1);
  std::uint32_t admitted = 0;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    admitted += guests.admits(IpAddress::fromV4(1000 + i), kHour) ? 1 : 0;
  }
  EXPECT_EQ(admitted, GuestList::kStrangersPerSecond);
  EXPECT_TRUE(guests.admits(IpAddress::fromV4(20), kHour)) << "those it knows do not suffer";
}

// PINGs that somebody forges in the name of a guest.
TEST(GuestList, AFloodInTheNameOfAGuestIsBoundedByThePlan) {
  constexpr std::uint32_t kPlanned = 10;
  constexpr std::uint32_t kSeconds = 15;
  GuestList guests = listOf(kPlanned);
  std::uint32_t admitted = 0;
  for (std::uint32_t i = 0; i < 20'000 * kSeconds; ++i) {
    const Nanos now = kHour + i * (kSecond / 20'000);
    admitted += guests.admits(IpAddress::fromV4(20), now) ? 1 : 0;
  }
  const std::uint32_t rate = 2 * kPlanned + GuestList::kSlackPerSecond;
  EXPECT_LE(admitted, kSeconds * rate + GuestList::kMinAtOnce);
  EXPECT_TRUE(guests.admits(IpAddress::fromV4(10), kHour)) << "others do not suffer";
}

TEST(GuestList, AGuestGetsWhatThePlanSaysEvenAfterAStall) {
  constexpr std::uint32_t kPlanned = 4000;
  GuestList guests = listOf(kPlanned);
  for (Nanos now = kHour; now < kHour + 4 * kSecond; now += 2 * kSecond) {
    for (std::uint32_t i = 0; i < 2 * kPlanned; ++i) {
      ASSERT_TRUE(guests.admits(IpAddress::fromV4(20), now)) << i;
    }
  }
}

}  // namespace
}  // namespace pingloom::probe::guest_list_test
